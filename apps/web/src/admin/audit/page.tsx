import { Skeleton } from '@mantine/core'
import type { AuditEntry, Resource } from '@netlet/contract'
import { IconEye } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import {
  type Fact,
  FactList,
  type Tools,
  code,
  column,
  dayFilter,
  defineResource,
  integer,
  oneOf,
  textFilter
} from '../kit/index.ts'
import classes from './audit.module.css'
import {
  Action,
  Actor,
  type Change,
  Changes,
  ListText,
  TARGETS,
  Target,
  Value,
  difference,
  listChange,
  placeOf,
  useTargetName
} from './cells.tsx'
import { labelOf } from './labels.ts'

/** One entry beside the list: before and after, field by field. */
function EntryDrawer({ id, row }: { id: number; row: AuditEntry | undefined; tools: Tools }) {
  const { data, error, refetch } = useQuery({
    ...read(settings.auditEntry, { params: { id } }),
    // The list already has it, and entries never change.
    enabled: !row
  })
  const entry = row ?? data
  if (error && !entry) return <ErrorState error={error} onRetry={() => void refetch()} />
  return entry ? <Entry entry={entry} /> : <Skeleton height={320} />
}

function Entry({ entry }: { entry: AuditEntry }) {
  const t = useT()
  const name = useTargetName(entry)
  const place = placeOf(entry)
  const { changed, same } = difference(entry.before, entry.after)
  const facts: Fact[] = [
    [t('audit.at'), <Moment at={entry.at} />],
    [t('audit.actor'), <Actor entry={entry} />],
    [t('audit.ip'), <span className="mono">{entry.ip ?? '–'}</span>],
    [t('audit.action'), <Action entry={entry} />],
    [t('audit.target'), <Target entry={entry} />]
  ]
  return (
    <div className="stack">
      <FactList label={t('audit.one')} facts={facts} />
      {place && <Link to={place}>{t('audit.open', { name })}</Link>}
      {changed.length === 0 ? (
        <p className="dim">{t('audit.nothing')}</p>
      ) : (
        <table className={classes.difference} aria-label={t('audit.changes')}>
          <thead>
            <tr>
              <th scope="col">{t('audit.field')}</th>
              <th scope="col">{t('audit.before')}</th>
              <th scope="col">{t('audit.after')}</th>
            </tr>
          </thead>
          <tbody>
            {changed.map(change => (
              <ChangeRow key={change.field} of={change} resource={entry.target_type} />
            ))}
          </tbody>
        </table>
      )}
      {same.length > 0 && (
        <p className="dim">
          {t('audit.same', { fields: same.map(field => labelOf(t, entry.target_type, field)).join('; ') })}
        </p>
      )}
    </div>
  )
}

function ChangeRow({ of: change, resource }: { of: Change; resource: string }) {
  const t = useT()
  const { field, before, after } = change
  const list = listChange(change)
  return (
    <tr>
      <th scope="row">{field ? labelOf(t, resource, field) : '–'}</th>
      {list ? (
        <td colSpan={2}>
          <ListText of={list} />
        </td>
      ) : (
        <>
          <td>
            <Value of={before} resource={resource} field={field} />
          </td>
          <td>
            <Value of={after} resource={resource} field={field} />
          </td>
        </>
      )}
    </tr>
  )
}

/** Who changed what, when and from where. Entries are immutable. */
export default defineResource({
  key: 'audit',
  list: settings.audit,
  nameOf: entry => `${entry.action} ${entry.target_name ?? entry.target_id}`,
  columns: [
    integer('id', { optional: true }),
    column('at', (row: AuditEntry) => <Moment at={row.at} />),
    column('actor', (row: AuditEntry) => <Actor entry={row} />),
    column('action', (row: AuditEntry) => <Action entry={row} />, { lead: true }),
    column('target', (row: AuditEntry) => <Target entry={row} />),
    column('changes', (row: AuditEntry) => <Changes entry={row} />, { wide: true }),
    code('ip')
  ],
  sort: ['id'],
  filters: [
    textFilter('actor'),
    oneOf('target_type', Object.keys(TARGETS) as Resource[], 'audit.of'),
    textFilter('target_id'),
    textFilter('verb'),
    oneOf('kind', ['security', 'reads'], 'audit.kind'),
    dayFilter('from'),
    dayFilter('until')
  ],
  rowActions: [{ name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id) }],
  drawer: EntryDrawer,
  csv: true
})
