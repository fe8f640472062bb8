import type { ServerGroup } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { ServerGroupForm } from '../../kit/schemas.ts'
import { areaField, column, defineResource, idsField, type Question, type T, textField } from '../kit/index.ts'
import { stockLines } from '../servers/plans.ts'
import { useServers } from '../servers/state.ts'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'

/** The number of plans named in a question. */
const NAMED = 8

const variantLines = (t: T, key: 'plan.variants' | 'plan.variantsBlock', variants: readonly string[]): string[] =>
  variants.length === 0
    ? [t('plan.noVariants')]
    : [
        t(key, {
          count: variants.length,
          names: variants.slice(0, NAMED).join(', ') + (variants.length > NAMED ? ' …' : '')
        })
      ]

async function saveQuestion(t: T, group: ServerGroup, sent: Record<string, unknown>): Promise<Question | undefined> {
  const servers = sent['servers'] as number[]
  const before = group.servers.map(({ id }) => id)
  if (before.length === servers.length && before.every(id => servers.includes(id))) return undefined
  const plan = await call(fleet.planGroup, { params: { id: group.id }, body: { servers } })
  const lines = [
    ...(plan.added.length > 0 ? [t('plan.serversAdded', { names: plan.added.join(', ') })] : []),
    ...(plan.removed.length > 0 ? [t('plan.serversRemoved', { names: plan.removed.join(', ') })] : []),
    ...variantLines(t, 'plan.variants', plan.variants),
    ...stockLines(t, plan.stock)
  ]
  return { title: t('plan.saveTitle', { name: group.name }), body: lines.join('\n'), danger: plan.removed.length > 0 }
}

async function deleteQuestion(t: T, group: ServerGroup): Promise<Question> {
  const plan = await call(fleet.planGroup, { params: { id: group.id }, body: { servers: [], remove: true } })
  if (plan.variants.length > 0)
    return {
      title: t('list.blockedTitle', { name: group.name }),
      body: variantLines(t, 'plan.variantsBlock', plan.variants).join('\n'),
      blocked: true
    }
  const lines = [
    t('server-groups.deleteBody', { name: group.name }),
    '',
    ...variantLines(t, 'plan.variants', plan.variants),
    ...stockLines(t, plan.stock)
  ]
  return { title: t('list.deleteTitle'), body: lines.join('\n'), danger: true }
}

/** Sets of servers that plans sell from. */
export default defineResource({
  key: 'server-groups',
  list: fleet.groups,
  also: [fleet.servers],
  nameOf: group => group.name,
  columns: [
    column('name', (group: ServerGroup) => <strong>{group.name}</strong>, { lead: true }),
    column('description', (group: ServerGroup) => group.description, { wide: true }),
    column('servers', (group: ServerGroup) => <ServersCell servers={group.servers} />, { wide: true })
  ],
  form: {
    schema: ServerGroupForm,
    create: fleet.createGroup,
    update: fleet.updateGroup,
    undo: true,
    fields: [textField('name'), areaField('description', { rows: 2 }), idsField('servers', { useOptions: useServers })],
    confirm: saveQuestion
  },
  remove: { route: fleet.deleteGroup, confirm: deleteQuestion },
  csv: true
})

/** Each links to the server. */
export const ServersCell = ({ servers }: Pick<ServerGroup, 'servers'>) => (
  <ul className="row stretch" style={{ gap: '0.15rem 0.75rem' }}>
    {servers.map(({ id, name }) => (
      <li key={id}>
        <Link className="plain" to={`${pageAt('servers')}?open=${id}`}>
          {name}
        </Link>
      </li>
    ))}
  </ul>
)
