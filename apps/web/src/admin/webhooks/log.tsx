import type { WebhookDelivery } from '@netlet/contract'
import { DELIVERY_STATES, WEBHOOK_EVENTS } from '@netlet/contract/webhook-events'
import { pageAt } from '@netlet/contract/pages'
import { IconEye, IconSend } from '@tabler/icons-react'
import { Link } from 'react-router'
import { webhooks } from '../../api/routes.ts'
import { useMay } from '../../api/may.ts'
import { useT } from '../../i18n/admin.ts'
import { DeliveryState } from '../../kit/webhooks/cells.tsx'
import { Delivery } from '../../kit/webhooks/delivery.tsx'
import { code, column, defineResource, integer, moment, oneOf, textFilter, type Tools } from '../kit/index.ts'

/** Deliveries to every endpoint. The drawer shows the body and each attempt. */
export const WebhookLog = defineResource({
  key: 'hook-log',
  list: webhooks.allDeliveries,
  address: ['tab'],
  nameOf: row => row.event_id,
  columns: [
    integer('id', { optional: true }),
    column('event', (row: WebhookDelivery) => <EventName row={row} />, { lead: true }),
    column('user', (row: WebhookDelivery) => <Owner row={row} />),
    code('url'),
    column('state', (row: WebhookDelivery) => <DeliveryState delivery={row} />, { wide: true }),
    integer('tries'),
    moment('created_at'),
    moment('ended_at', { optional: true }),
    code('event_id', { optional: true })
  ],
  sort: ['id'],
  filters: [
    oneOf('state', DELIVERY_STATES, 'hook-log.is'),
    oneOf('event', WEBHOOK_EVENTS, 'hook-log.eventOf'),
    textFilter('endpoint_id'),
    textFilter('user_id')
  ],
  drawer: DeliveryDrawer,
  rowActions: [
    { name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id), needs: webhooks.anyDelivery },
    {
      name: 'resend',
      icon: IconSend,
      route: webhooks.resendAny,
      whyNot: row => (row.state === 'waiting' ? 'whyNot.webhookWaiting' : undefined),
      success: t => t('hook-log.resent')
    }
  ],
  moving: row => row.state === 'waiting',
  problem: row => row.state === 'failed',
  csv: true
})

function DeliveryDrawer({ id }: { id: number; row: WebhookDelivery | undefined; tools: Tools }) {
  const { mayCall } = useMay()
  return <Delivery id={id} ofAll canResend={mayCall(webhooks.resendAny)} />
}

function EventName({ row }: { row: WebhookDelivery }) {
  const t = useT()
  return <>{t(`hook-log.eventOf.${row.event}`)}</>
}

function Owner({ row }: { row: WebhookDelivery }) {
  const t = useT()
  if (row.user_id === null) return <span className="dim">{t('hook-log.operators')}</span>
  return <Link to={`${pageAt('user', { id: row.user_id })}?tab=webhooks`}>{row.username}</Link>
}
