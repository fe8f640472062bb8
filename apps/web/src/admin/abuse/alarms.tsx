import type { AbuseAlarm } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { fleet, home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/money.ts'
import { Ago } from '../../kit/time.tsx'
import { type Column, ListSection, useCommand, WorkButton } from '../kit/index.ts'

/** Milliseconds between polls. Servers are polled every minute. */
const EVERY = 60_000

type Props = {
  /** All signals of one server or order; otherwise only unacknowledged ones. */
  of?: { server_id: number } | { order_id: number }
  /** Render nothing if there are none. */
  quiet?: boolean
}

/** Signs of abuse reported by agents, each with its order and a button to acknowledge it. */
export function AbuseAlarms({ of, quiet = false }: Props) {
  const t = useT()
  const { mayCall } = useMay()
  const query = useQuery({
    ...read(fleet.alarms, { query: of ?? {} }),
    refetchInterval: EVERY,
    enabled: mayCall(fleet.alarms)
  })
  const { data, error } = query
  if (!mayCall(fleet.alarms) || (quiet && !error && !data?.alarms.length)) return null
  const columns: Column<AbuseAlarm>[] = [
    { key: 'kind', title: t('abuse.kind'), lead: true, render: row => t(`abuse.is.${row.kind}`) },
    {
      key: 'order',
      title: t('abuse.order'),
      render: row =>
        row.order_id === null ? (
          <span className="mono">{row.username}</span>
        ) : (
          <Link className="mono" to={pageAt('order', { id: row.order_id })}>
            {row.username}
          </Link>
        )
    },
    {
      key: 'server',
      title: t('abuse.server'),
      render: row => <Link to={`${pageAt('servers')}?detail=${row.server_id}`}>{row.server}</Link>
    },
    { key: 'subject', title: t('abuse.subject'), render: row => <span className="mono">{row.subject}</span> },
    { key: 'count', title: t('abuse.count'), align: 'end', render: row => numberText(row.count) },
    { key: 'since', title: t('abuse.since'), render: row => <Ago at={row.started_at} /> },
    { key: 'last', title: t('abuse.last'), render: row => <Ago at={row.last_at} /> },
    { key: 'actions', title: t('list.actions'), hidden: true, render: row => <Acknowledge alarm={row} /> }
  ]
  return (
    <ListSection
      id="abuse"
      title={t('abuse.title')}
      query={query}
      columns={columns}
      rows={data?.alarms}
      rowKey={row => row.id}
      empty={{ title: t('abuse.none'), body: t('abuse.noneHint') }}
    />
  )
}

function Acknowledge({ alarm }: { alarm: AbuseAlarm }) {
  const t = useT()
  const { mayCall } = useMay()
  const acknowledge = useCommand(fleet.acknowledgeAlarm, {
    invalidate: [fleet.alarms, home.attention],
    success: t('abuse.acknowledged')
  })
  if (alarm.acknowledged_by !== null)
    return <span className="dim">{t('abuse.by', { who: alarm.acknowledged_by })}</span>
  if (!mayCall(fleet.acknowledgeAlarm)) return null
  return (
    <WorkButton
      size="compact-sm"
      variant="default"
      working={acknowledge.running}
      onClick={() => void acknowledge.run({ params: { id: alarm.id } })}
    >
      {t('abuse.acknowledge')}
    </WorkButton>
  )
}
