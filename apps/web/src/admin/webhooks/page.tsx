import { Tabs } from '@mantine/core'
import type { WebhookDelivery } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { DELIVERY_STATES, WEBHOOK_EVENTS } from '@netlet/contract/webhook-events'
import { IconEye, IconSend } from '@tabler/icons-react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { webhooks } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { useT } from '../../i18n/admin.ts'
import { operatorEndpoints } from '../../kit/webhooks/calls.ts'
import { Delivery, DeliveryState } from '../../kit/webhooks/delivery.tsx'
import { Endpoints } from '../../kit/webhooks/endpoints.tsx'
import { code, column, defineResource, integer, moment, oneOf, TabBar, textFilter, type Tools } from '../kit/index.ts'
import '../../kit/styles/forms.ts'

const LOG = pageAt('webhooks')

export default function WebhooksPage() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const navigate = useNavigate()
  const { mayCall } = useMay()
  const tab = params.get('tab') === 'endpoints' ? 'endpoints' : 'log'
  return (
    <Tabs value={tab} onChange={id => id && setParams(id === 'log' ? {} : { tab: id })} keepMounted={false}>
      <TabBar value={tab}>
        <Tabs.Tab value="log">{t('hooks.log')}</Tabs.Tab>
        <Tabs.Tab value="endpoints">{t('hooks.endpoints')}</Tabs.Tab>
      </TabBar>
      <Tabs.Panel value="log" pt="md">
        <WebhookLog />
      </Tabs.Panel>
      <Tabs.Panel value="endpoints" pt="md">
        <section className="card stack" aria-label={t('hooks.endpoints')} style={{ padding: '1.25rem' }}>
          <p className="dim">{t('hooks.hint')}</p>
          <Endpoints
            calls={operatorEndpoints}
            canChange={mayCall(webhooks.createOperatorEndpoint)}
            onLog={({ id }) => void navigate(`${LOG}?endpoint_id=${id}`)}
          />
        </section>
      </Tabs.Panel>
    </Tabs>
  )
}

/** Deliveries to every endpoint. The drawer shows the body and each attempt. */
const WebhookLog = defineResource({
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
