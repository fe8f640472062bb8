import '../../kit/styles/forms.ts'
import '../../kit/styles/tables.ts'
import type { LostTime, Order } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from 'react-router'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders, payments, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { OrderCredits } from '../../kit/order-credits.tsx'
import { TrafficPanel } from '../../kit/traffic/traffic-panel.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { AuditLink, type Fact, FactList, May, RowPage, RowPageHead, RowTools, UnavailableHint } from '../kit/index.ts'
import { AbuseAlarms } from '../abuse/alarms.tsx'
import { Facts } from './facts.tsx'
import { Money } from './money.tsx'
import { OrderProxies } from './order-proxies.tsx'
import { Orders } from './orders.tsx'
import { Timeline } from './timeline.tsx'
import classes from './orders.module.css'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { failureText } from '../../i18n/failures.ts'
import { ClientAccessDialog } from '../../kit/client-access-dialog.tsx'
import { whyNoProxies } from '../../kit/order-obstacles.ts'
import { Moment, momentText } from '../../kit/time.tsx'
import { obstacle } from './why-not.ts'
import { pageAt } from '@netlet/contract/pages'
import { useLanguage } from '../../i18n/language.ts'
import { durationText } from '../../kit/duration.ts'
import { useListLeft } from './order-link.tsx'

/** Outages whose lost time was not credited. Each links to the page that credits all its orders. */
function LostTimeList({ lost }: { lost: readonly LostTime[] }) {
  const t = useT()
  const language = useLanguage()
  if (lost.length === 0) return null
  return (
    <section aria-label={t('orders.lostTime')}>
      <strong>{t('orders.lostTime')}</strong>
      <ul>
        {lost.map(({ outage_id: id, server, from, to, seconds }) => (
          <li key={id}>
            <Link to={`${pageAt('outages')}?open=${id}`}>
              {t('orders.lostBy', { time: durationText(seconds, language), server: server.name })}
            </Link>{' '}
            {to === null
              ? t('orders.lostSince', { from: momentText(from, language) })
              : t('orders.lostFrom', { from: momentText(from, language), to: momentText(to, language) })}
          </li>
        ))}
      </ul>
    </section>
  )
}

function OrderClientAccess({ order }: { order: Order }) {
  const t = useT()
  const { data, error } = useQuery(read(orders.clientAccess, { params: { id: order.id } }))
  if (error) return <p role="alert">{failureText(error)}</p>
  if (!data) return null
  const facts: Fact[] = [
    [t('orders.clientAccess'), t(`orders.clientAccess.${data.access}`)],
    [t('orders.clientIps'), data.client_ips.length > 0 && <span className="mono">{data.client_ips.join(', ')}</span>],
    [t('orders.clientAccessChanged'), data.changed_at && <Moment at={data.changed_at} ago />],
    [t('orders.clientAccessPending'), data.is_pending && t('orders.clientAccessOnItsWay')]
  ]
  return (
    <>
      <FactList label={t('orders.clientAccess')} facts={facts} />
      <May make={orders.setClientAccess}>
        <ChangeAccess order={order} />
      </May>
    </>
  )
}

/** An operator changes it for the customer. The audit log records who did. */
function ChangeAccess({ order }: { order: Order }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const why = obstacle(whyNoProxies(order))
  return (
    <p>
      <UnavailableHint why={why && t(why)}>
        <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
          {t('orders.clientAccessChange')}
        </Button>
      </UnavailableHint>
      {open && <ClientAccessDialog orderId={order.id} ofOperator onClose={() => setOpen(false)} />}
    </p>
  )
}

/** Milliseconds between polls while a task runs on the order. */
const WATCH = 5000

export default function OrderPage() {
  const t = useT()
  const watch = usePollInterval(WATCH)
  return (
    <RowPage
      query={id => read(orders.order, { params: { id } })}
      poll={order => (isMoving(order) ? watch : false)}
      back={{ to: useListLeft(), title: t('orders.back') }}
      gone={{ title: t('orders.gone'), body: t('orders.goneHint') }}
      fallback="Failed to load order details"
    >
      {order => <Shown order={order} />}
    </RowPage>
  )
}

function Shown({ order }: { order: Order }) {
  const t = useT()
  const navigate = useNavigate()
  const list = useListLeft()
  useTitle(order.order_id)
  const { data: lost = [] } = useQuery({
    ...read(orders.lostTime, { params: { id: order.id } }),
    enabled: order.pay_status === 1
  })
  return (
    <div className={`stack ${classes.page}`}>
      <RowPageHead
        back={{ to: list, title: t('orders.back') }}
        actions={
          <RowTools
            of={Orders}
            row={order}
            without={['details']}
            buttons={correctiveActions(order, lost)}
            onGone={() => void navigate(list, { replace: true })}
          />
        }
      >
        <h2 className="mono">{order.order_id}</h2>
      </RowPageHead>
      <div className={classes.columns}>
        <div className={`stack shrinks ${classes.main}`} style={{ gap: '1.25rem' }}>
          <div className="card stack panel">
            <Facts order={order} />
            <OrderClientAccess order={order} />
            {order.pay_status === 1 && <OrderCredits orderId={order.id} />}
            <LostTimeList lost={lost} />
          </div>
          <May make={payments.ofOrder}>
            <Money order={order} />
          </May>
        </div>
        <div className={`card panel shrinks ${classes.aside}`}>
          <Timeline order={order} />
          <May make={settings.audit}>
            <p className="size-body" style={{ marginTop: '0.75rem' }}>
              <AuditLink of="order" id={order.id} />
            </p>
          </May>
        </div>
        <div className={`stack shrinks ${classes.proxies}`}>
          <AbuseAlarms of={{ order_id: order.id }} quiet />
          <OrderProxies order={order} />
          {order.pay_status === 1 && (
            <TrafficPanel query={range => read(orders.traffic, { params: { id: order.id }, query: range })} />
          )}
        </div>
      </div>
    </div>
  )
}

/** Names of the actions that fix a problem of this order. */
function correctiveActions(order: Order, lost: readonly LostTime[]): string[] {
  if (order.can_reopen) return ['reopen', 'refund']
  if (order.state === 'placed') return ['cancel']
  const over = order.is_expired || order.state === 'refunded'
  if (order.pay_status !== 1 || over) return []
  const credit = lost.length > 0 ? ['credit'] : []
  return order.delivery_num < order.proxy_num ? ['deliver', 'move', ...credit, 'refund'] : credit
}
