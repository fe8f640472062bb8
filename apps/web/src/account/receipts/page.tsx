import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import { IconPrinter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/receipts.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { numberOf } from '../../kit/use-address.ts'
import { OrderList } from './order-list.tsx'
import { ReceiptSheet } from './receipt-sheet.tsx'
import classes from './receipts.module.css'
import type { UncountedPayment } from '@netlet/contract'
import { moneyIn } from '../../kit/money.ts'
import { Day } from '../../kit/time.tsx'

/** Payments that do not count. They have no receipt, but the customer sees where the money is. */
function Uncounted({ payments }: { payments: UncountedPayment[] }) {
  const t = useT()
  if (payments.length === 0) return null
  return (
    <section
      className={`card stack ${classes.uncounted}`}
      style={{ gap: '0.75rem', maxWidth: '52rem', padding: '1.25rem' }}
      aria-label={t('uncounted')}
    >
      <h2 className="size-title">{t('uncounted')}</h2>
      <ul>
        {payments.map(payment => (
          <li key={payment.id}>
            <span>
              <strong className="mono">{payment.platform_order}</strong> {t(payment.kind)}, <Day at={payment.paid_at} />
            </span>
            <strong className="num">{moneyIn(payment.total, payment.currency)}</strong>
            <span className="dim">{t(`uncounted.${payment.state}`)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The paid orders, or the receipts of the order in the address. */
export default function ReceiptsPage() {
  const { order } = useParams()
  if (order === undefined) return <OrderList />
  // An invalid id counts as unknown.
  return <Receipts orderId={numberOf(order) ?? 0} />
}

function Receipts({ orderId }: { orderId: number }) {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(orders.receipts, { params: { id: orderId } }))
  return (
    <div className="stack">
      <div className="row between" style={{ minHeight: '2.25rem' }}>
        <Link to={pageAt('receipts')}>{t('all')}</Link>
        {data && data.receipts.length > 0 && (
          <Button leftSection={<IconPrinter size={18} aria-hidden />} onClick={() => window.print()}>
            {t('print')}
          </Button>
        )}
      </div>
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton height="100vh" radius="md" />
      ) : data.receipts.length === 0 && data.uncounted.length === 0 ? (
        <EmptyState title={t('none')} body={t('noneHint')}>
          <Button component={Link} to={pageAt('product')} variant="default">
            {t('browse')}
          </Button>
        </EmptyState>
      ) : (
        <>
          <Uncounted payments={data.uncounted} />
          {data.receipts.length > 0 && (
            <section
              className={`stack ${classes.print}`}
              style={{ gap: '1.5rem' }}
              aria-label={t('of', { order: data.order_id })}
            >
              {data.receipts.map(receipt => (
                <ReceiptSheet key={receipt.id} order={data} receipt={receipt} />
              ))}
            </section>
          )}
        </>
      )}
    </div>
  )
}
