import type { Order, OrderPayment } from '@netlet/contract'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { payments } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money, moneyIn } from '../../kit/money.ts'
import { Ago, Day } from '../../kit/time.tsx'
import { DataTable } from '../kit/index.ts'
import { PaymentStateBadge } from '../payments/payment-state.tsx'
import classes from './orders.module.css'
import { none } from '../../kit/none.tsx'

/** More renewals than any order has in years. */
const MOST = 100

/** What was paid for an order, by the platform's payments. */
export function Money({ order }: { order: Order }) {
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
            render: payment => <GivenBack payment={payment} />
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

function GivenBack({ payment }: { payment: OrderPayment }) {
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
