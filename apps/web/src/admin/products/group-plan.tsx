import type { AddressFamily, GroupStock } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import { ErrorState } from '../../kit/states.tsx'
import classes from './products.module.css'

/** The group a variant sells from, its block size and family; null: none. */
export type Source = { group: number; step: number; family: AddressFamily } | null

const NOTHING: GroupStock = { max_step: 0, stock: 0, rules: [] }

/** What a group has to sell; undefined while loading. */
function useGroupStock(source: Source) {
  const query = useQuery({
    ...read(catalog.groupStock, {
      query: {
        server_group: source?.group ?? 0,
        cart_step: source?.step ?? 1,
        address_family: source?.family ?? 'ipv4'
      }
    }),
    enabled: source !== null
  })
  return { ...query, data: source === null ? NOTHING : query.data }
}

/** What another group or block size does to a variant's stock, rule by rule, before it is saved. */
export function GroupPlan({ before, after, live }: { before: Source; after: Source; live: number }) {
  const t = useT()
  const now = useGroupStock(before)
  const then = useGroupStock(after)
  const failed = now.error ?? then.error
  if (failed) return <ErrorState error={failed} onRetry={() => void Promise.all([now.refetch(), then.refetch()])} />
  if (!now.data || !then.data) return <Skeleton height={90} aria-label={t('products.plan')} />
  const nowBy = new Map(now.data.rules.map(rule => [rule.acl_id, rule]))
  const thenBy = new Map(then.data.rules.map(rule => [rule.acl_id, rule]))
  const rules = [...new Map([...nowBy, ...thenBy]).values()]
  return (
    <section className="stack" aria-label={t('products.plan')}>
      <h3 className="size-lead">{t('products.plan')}</h3>
      {after && then.data.max_step < after.step && (
        <p className="notice warn" role="status">
          {t('products.tooLarge', { step: after.step, largest: then.data.max_step })}
        </p>
      )}
      <div style={{ maxHeight: '13rem', overflow: 'auto' }} tabIndex={0} role="group" aria-label={t('products.plan')}>
        <table className={classes.plan}>
          <thead>
            <tr>
              <th scope="col">{t('products.rule')}</th>
              <th scope="col">{t('products.now')}</th>
              <th scope="col">{t('products.then')}</th>
            </tr>
          </thead>
          <tbody>
            <Line name={t('products.mostStock')} now={now.data.stock} then={then.data.stock} />
            {rules.map(({ acl_id, acl_name }) => (
              <Line
                key={acl_id}
                name={acl_name}
                now={nowBy.get(acl_id)?.stock ?? 0}
                then={thenBy.get(acl_id)?.stock ?? 0}
              />
            ))}
          </tbody>
        </table>
      </div>
      {live > 0 && <p className="dim">{t('products.keep', { count: live })}</p>}
    </section>
  )
}

const Line = ({ name, now, then }: { name: string; now: number; then: number }) => (
  <tr data-less={then < now}>
    <th scope="row">{name}</th>
    <td>{numberText(now)}</td>
    <td>{numberText(then)}</td>
  </tr>
)
