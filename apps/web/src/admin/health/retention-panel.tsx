import type { RetentionFigures } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { numberText, unitText } from '../../kit/number.ts'
import { Ago } from '../../kit/time.tsx'
import { DataTable, type Column } from '../kit/index.ts'
import classes from './health.module.css'
import { none } from '../../kit/none.tsx'

/** What grows in the database: retention, current size and the last clean-up. */
export function RetentionPanel() {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(settings.retention))
  const columns: Column<RetentionFigures>[] = [
    { key: 'what', title: t('retention.what'), render: row => <What entry={row} />, lead: true },
    { key: 'kept', title: t('retention.kept'), render: row => <Kept entry={row} /> },
    {
      key: 'rows',
      title: t('retention.rows'),
      render: ({ rows }) => (rows === null ? none : numberText(rows)),
      align: 'end'
    },
    { key: 'oldest', title: t('retention.oldest'), render: row => (row.oldest ? <Ago at={row.oldest} /> : none) },
    { key: 'removed', title: t('retention.removed'), render: row => <Removed entry={row} /> }
  ]
  return (
    <section aria-label={t('retention.title')}>
      <h3>{t('retention.title')}</h3>
      <DataTable
        label={t('retention.title')}
        columns={columns}
        rows={data}
        rowKey={row => row.what}
        pending={isPending}
        error={error}
        errorText={t('retention.failed')}
        onRetry={() => void refetch()}
        empty={{ title: t('retention.none') }}
      />
    </section>
  )
}

/** What it is, and the reason for its retention. */
function What({ entry: { what } }: { entry: RetentionFigures }) {
  const t = useT()
  return (
    <div className={classes.what}>
      {t(`retention.of.${what}`)}
      <span className="dim">{t(`retention.why.${what}`)}</span>
    </div>
  )
}

function Removed({ entry: { removed, removed_at: at } }: { entry: RetentionFigures }) {
  if (!at) return none
  return (
    <>
      {numberText(removed)}, <Ago at={at} />
    </>
  )
}

/** '30 days', or "until it expires". */
function Kept({ entry: { keep_hours: hours } }: { entry: RetentionFigures }) {
  const t = useT()
  const language = useLanguage()
  if (hours === 0) return t('retention.untilExpiry')
  const [value, unit] = hours >= 48 ? [hours / 24, 'day'] : hours >= 1 ? [hours, 'hour'] : [hours * 60, 'minute']
  return unitText(Math.round(value), language, { unit, unitDisplay: 'long' })
}
