import { Button } from '@mantine/core'
import type { LostTime, Order, OrderPayment } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders, payments, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { useLanguage } from '../../i18n/language.ts'
import { ClientAccessDialog } from '../../kit/client-access-dialog.tsx'
import { durationText, money, moneyIn } from '../../kit/money.ts'
import { none } from '../../kit/none.tsx'
import { OrderCredits } from '../../kit/order-credits.tsx'
import { whyNoProxies } from '../../kit/order-obstacles.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { Ago, Day, Moment, momentText } from '../../kit/time.tsx'
import { TrafficPanel } from '../../kit/traffic/traffic-panel.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { AbuseAlarms } from '../abuse/alarms.tsx'
import {
  AuditLink,
  DataTable,
  type Fact,
  FactList,
  May,
  RowPage,
  RowPageHead,
  RowTools,
  UnavailableHint
} from '../kit/index.ts'
import { PaymentStateBadge } from '../payments/page.tsx'
import { Facts, useListLeft } from './cells.tsx'
import { OrderProxies } from './order-proxies.tsx'
import classes from './orders.module.css'
import { Orders } from './orders.tsx'
import { Timeline } from './timeline.tsx'
import { obstacle } from './why-not.ts'
import '../../kit/styles/forms.ts'
import '../../kit/styles/tables.ts'

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

/** More renewals than any order has in years. */
const MOST = 100

/** What was paid for an order, by the platform's payments. */
function Money({ order }: { order: Order }) {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(
    read(payments.ofOrder, { params: { id: order.id }, query: { limit: MOST } })
  )
  return (
    <section className="stack" aria-label={t('orders.money')}>
      <h3 className="size-lead" style={{ marginBottom: '0.4rem' }}>
        {t('orders.money')}
      </h3>
      <DataTable<OrderPayment>
        label={t('orders.money')}
        rows={data?.data}
        rowKey={payment => payment.id}
        pending={isPending}
        error={error}
        onRetry={() => void refetch()}
        empty={{ title: t('orders.noMoney'), compact: true }}
        problem={payment => payment.state === 'held'}
        columns={[
          {
            key: 'platform',
            title: t('orders.platform_order'),
            lead: true,
            render: payment => <PlatformOrder payment={payment} />
          },
          {
            key: 'state',
            title: t('payments.state'),
            render: payment => <PaymentStateBadge state={payment.state} />
          },
          { key: 'lines', title: t('orders.lines'), wide: true, render: payment => <Lines payment={payment} /> },
          {
            key: 'charged',
            title: t('payments.charged'),
            align: 'end',
            render: payment => (
              <>
                <span className="num unbroken">{moneyIn(payment.charged, payment.currency)}</span>
                {payment.discount !== '0.00' && (
                  <div className="dim">
                    {t('orders.discount', { amount: moneyIn(payment.discount, payment.currency) })}
                  </div>
                )}
              </>
            )
          },
          {
            key: 'refunded',
            title: t('orders.refunded'),
            align: 'end',
            render: payment => <RefundRows payment={payment} />
          },
          {
            key: 'counts',
            title: t('orders.counts'),
            align: 'end',
            render: ({ counts, days }) => (
              <>
                {money(counts)}
                {days !== null && <div className="dim">{t('orders.term', { days })}</div>}
              </>
            )
          }
        ]}
      />
    </section>
  )
}

/** The order on the platform, linked if the address is known. */
function PlatformOrder({ payment }: { payment: OrderPayment }) {
  const t = useT()
  const { platform_url: url, platform_order: number, kind, created_at } = payment
  return (
    <>
      {url ? (
        <a
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          className="mono row unwrapped inline unbroken"
          style={{ gap: '0.25rem' }}
          aria-label={t('orders.onPlatform', { number })}
        >
          {number}
          <IconExternalLink size={14} aria-hidden />
        </a>
      ) : (
        <span className="mono">{number}</span>
      )}
      <div className="dim">
        {t(`users.kind.${kind}`)}, <Day at={created_at} />
      </div>
    </>
  )
}

function Lines({ payment }: { payment: OrderPayment }) {
  const t = useT()
  const { lines } = payment
  if (lines.length === 0) return <span className="dim">{t('orders.noLines')}</span>
  return (
    <ul className={`size-table ${classes.lines}`}>
      {lines.map((line, at) => (
        <li key={`${line.title} ${at}`}>
          <span className="num">{`${line.quantity} × ${moneyIn(line.price, payment.currency)}`}</span> {line.title}
        </li>
      ))}
    </ul>
  )
}

function RefundRows({ payment }: { payment: OrderPayment }) {
  const t = useT()
  if (payment.refunds.length === 0)
    return <>{payment.refunded_amount === '0.00' ? none : moneyIn(payment.refunded_amount, payment.currency)}</>
  return (
    <ul className={`size-table ${classes.lines}`}>
      {payment.refunds.map((refund, at) => (
        <li key={`${refund.at} ${at}`}>
          <span className="num">
            {refund.foreign_amount ?? (refund.amount ? moneyIn(refund.amount, payment.currency) : t('orders.all'))}
          </span>{' '}
          <span className="dim">
            {t(`orders.back.${refund.kind}`)}, <Ago at={refund.at} />
            {refund.asked_by && `, ${t(`orders.refund.${refund.state}`, { name: refund.asked_by })}`}
            {refund.foreign_amount && `, ${t('orders.amountUnknown')}`}
            {refund.reversed_at && `, ${t('orders.reversed')}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
