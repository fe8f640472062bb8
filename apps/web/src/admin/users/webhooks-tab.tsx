import type { UserDetail, WebhookEndpoint } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { webhooks } from '../../api/routes.ts'
import { useMay } from '../../api/may.ts'
import { useT } from '../../i18n/admin.ts'
import { Ago } from '../../kit/time.tsx'
import { EndpointState } from '../../kit/webhooks/cells.tsx'
import { DeliveryLog } from '../../kit/webhooks/log.tsx'
import { DataTable, Keyed, type Column } from '../kit/index.ts'

/** More than a customer may have. */
const MOST = 50

/** A user's webhook endpoints, which only the owner changes, and their deliveries. */
export function WebhooksTab({ user }: { user: UserDetail }) {
  const t = useT()
  const { mayCall } = useMay()
  const { data, isPending, error, refetch } = useQuery(
    read(webhooks.allEndpoints, { query: { user_id: user.id, limit: MOST } })
  )
  const columns: Column<WebhookEndpoint>[] = [
    { key: 'url', title: t('hook-log.url'), lead: true, render: row => <span className="mono">{row.url}</span> },
    { key: 'state', title: t('hook-log.state'), wide: true, render: row => <EndpointState endpoint={row} /> },
    {
      key: 'events',
      title: t('hook-log.events'),
      wide: true,
      render: row => row.events.map(event => t(`hook-log.eventOf.${event}`)).join(', ')
    },
    { key: 'made', title: t('users.keyMade'), render: row => <Ago at={row.created_at} /> }
  ]
  return (
    <div className="stack">
      <DataTable
        label={t('hooks.endpoints')}
        columns={columns}
        rows={data?.data}
        rowKey={row => row.id}
        pending={isPending}
        error={error}
        onRetry={() => void refetch()}
        empty={{ title: t('users.none.webhooks'), compact: true }}
      />
      <Keyed>
        <DeliveryLog userId={user.id} canResend={mayCall(webhooks.resendAny)} />
      </Keyed>
    </div>
  )
}
