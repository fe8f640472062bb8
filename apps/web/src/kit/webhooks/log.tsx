import type { WebhookDelivery } from '@netlet/contract'
import { DELIVERY_STATES } from '@netlet/contract/webhook-events'
import { Button, NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { keyOf } from '../../api/query.ts'
import { webhooks } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Dialog } from '../dialog.tsx'
import { Ago } from '../time.tsx'
import { numberIn, useAddress } from '../use-address.ts'
import { useAddressPaging } from '../use-paging.ts'
import { Delivery, DeliveryState } from './delivery.tsx'

/** The log's parameters of the address, removed. For pages that switch to another log or none. */
export const NO_LOG = { log_state: null, log_page: null, delivery: null }

type Props = {
  /** Only this endpoint. */
  endpointId?: number
  /** Whose deliveries, for operators; without it the user's own. */
  userId?: number
  canResend: boolean
}

/** Deliveries, newest first, with details of each. State, page and the open delivery are in the address. */
export function DeliveryLog({ endpointId, userId, canResend }: Props) {
  const t = useT()
  const { query: address, change } = useAddress()
  const state = DELIVERY_STATES.find(one => one === address.get('log_state')) ?? ''
  const open = numberIn(address, 'delivery')
  const setOpen = (id: number | null) => change({ delivery: id }, { push: true })
  const paging = useAddressPaging(10, { name: 'log' })
  const query = {
    limit: paging.limit,
    offset: paging.offset,
    ...(state && { state }),
    ...(endpointId !== undefined && { endpoint_id: endpointId })
  }
  const ofUser = userId === undefined ? undefined : { ...query, user_id: userId }
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    queryKey: keyOf(ofUser ? webhooks.allDeliveries : webhooks.deliveries, { query: ofUser ?? query }),
    queryFn: ({ signal }) =>
      ofUser
        ? call(webhooks.allDeliveries, { query: ofUser }, { signal })
        : call(webhooks.deliveries, { query }, { signal }),
    placeholderData: keepPreviousData
  })
  const columns: Column<WebhookDelivery>[] = [
    { key: 'event', title: t('hooks.eventTitle'), lead: true, render: row => t(`hooks.event.${row.event}`) },
    { key: 'state', title: t('hooks.state'), wide: true, render: row => <DeliveryState delivery={row} /> },
    { key: 'tries', title: t('hooks.tries'), align: 'end', render: row => row.tries },
    { key: 'at', title: t('hooks.at'), render: row => <Ago at={row.created_at} /> },
    {
      key: 'open',
      title: t('hooks.look'),
      hidden: true,
      bare: true,
      render: row => (
        <Button size="xs" variant="default" data-open onClick={() => setOpen(row.id)}>
          {t('hooks.look')}
        </Button>
      )
    }
  ]
  return (
    <div className="stack">
      <NativeSelect
        label={t('hooks.state')}
        value={state}
        onChange={event => change({ log_state: event.currentTarget.value || null, log_page: null }, { push: true })}
        data={[
          { value: '', label: t('hooks.anyState') },
          ...DELIVERY_STATES.map(value => ({ value, label: t(`hooks.is.${value}`) }))
        ]}
      />
      <DataTable
        label={t('hooks.log')}
        columns={columns}
        rows={data?.data}
        rowKey={row => row.id}
        pending={isPending}
        stale={isPlaceholderData}
        error={error}
        onRetry={() => void refetch()}
        empty={{
          title: t(state ? 'hooks.emptyState' : 'hooks.emptyLog'),
          body: t(state ? 'hooks.emptyStateHint' : 'hooks.emptyLogHint'),
          compact: true
        }}
        paging={paging}
        total={data?.total}
        problem={row => row.state === 'failed'}
      />
      {open !== undefined && (
        <Dialog size="lg" onClose={() => setOpen(null)} title={t('hooks.one')}>
          <Delivery id={open} ofAll={ofUser !== undefined} canResend={canResend} />
        </Dialog>
      )}
    </div>
  )
}
