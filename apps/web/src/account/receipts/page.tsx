import { Button, Skeleton } from '@mantine/core'
import { IconPrinter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/receipts.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { OrderList } from './order-list.tsx'
import { ReceiptSheet } from './receipt-sheet.tsx'
import classes from './receipts.module.css'

/** What was paid: the paid orders, and the receipts of the one that the address names. */
export default function ReceiptsPage() {
  const { order } = useParams()
  if (order === undefined) return <OrderList />
  // An id that is none is answered as one that is not there.
  return <Receipts orderId={/^[1-9]\d{0,8}$/.test(order) ? Number(order) : 0} />
}

function Receipts({ orderId }: { orderId: number }) {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(orders.receipts, { params: { id: orderId } }))
  return (
    <div className="stack">
      <div className={classes.tools}>
        <Link to="/dashboard/index/receipts">{t('all')}</Link>
        {data && data.receipts.length > 0 && (
          <Button leftSection={<IconPrinter size={18} aria-hidden />} onClick={() => window.print()}>
            {t('print')}
          </Button>
        )}
      </div>
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton height={480} radius="md" />
      ) : data.receipts.length === 0 ? (
        <EmptyState title={t('none')} body={t('noneHint')} />
      ) : (
        <section className={classes.print} aria-label={t('of', { order: data.order_id })}>
          {data.receipts.map(receipt => (
            <ReceiptSheet key={receipt.id} order={data} receipt={receipt} />
          ))}
        </section>
      )}
    </div>
  )
}
