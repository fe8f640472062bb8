import { Button, Skeleton } from '@mantine/core'
import type { UncountedPayment } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconPrinter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/receipts.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { money, moneyIn } from '../../kit/money.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { Day } from '../../kit/time.tsx'
import { numberOf } from '../../kit/use-address.ts'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { ReceiptSheet } from './receipt-sheet.tsx'
import classes from './receipts.module.css'

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

function OrderList() {
  const t = useT()
  const names = useNames()
  const paging = useAddressPaging(10)
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    ...read(orders.list, { query: { pay_status: '1', limit: paging.limit, offset: paging.offset } }),
    placeholderData: previous => previous
  })
  return (
    <div className="stack">
      <p className="dim">{t('lead')}</p>
      <DataTable
        label={t('title')}
        columns={[
          {
            key: 'order',
            title: t('order'),
            lead: true,
            render: order => (
              <>
                <strong>{names.order(order).product_name}</strong> <span className="mono whole">{order.order_id}</span>
              </>
            )
          },
          { key: 'date', title: t('date'), render: order => <Day at={order.created_at} /> },
          { key: 'paid', title: t('paid'), align: 'end', render: order => money(order.pay_amount ?? order.amount) },
          {
            key: 'open',
            title: t('open'),
            hidden: true,
            bare: true,
            align: 'end',
            render: order => (
              <Button
                component={Link}
                to={pageAt('receipts', { order: order.id })}
                size="xs"
                variant="default"
                aria-label={`${t('open')}: ${t('openOf', { order: order.order_id })}`}
              >
                {t('open')}
              </Button>
            )
          }
        ]}
        rows={data?.data}
        rowKey={order => order.id}
        pending={isPending}
        stale={isPlaceholderData}
        error={error}
        onRetry={() => void refetch()}
        empty={{
          title: t('noOrder'),
          body: t('noneHint'),
          action: (
            <Button component={Link} to={pageAt('product')}>
              {t('browse')}
            </Button>
          )
        }}
        paging={paging}
        total={data?.total}
      />
    </div>
  )
}
