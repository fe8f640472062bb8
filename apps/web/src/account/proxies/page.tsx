import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'react-router'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { isMoving, isProblem } from '../../kit/order-state.tsx'
import { TrafficPanel } from '../../kit/traffic/traffic-panel.tsx'
import { usePaging } from '../../kit/use-paging.ts'
import { PaymentDialog } from '../../kit/payment/payment-dialog.tsx'
import { keepPayment, type Pending } from '../../kit/payment/pending.ts'
import { useCancel } from '../../kit/payment/use-cancel.ts'
import { orderColumns } from './order-columns.tsx'
import { ProxyPanel } from './proxy-panel.tsx'
import { RenewalFromMail } from './renewal-from-mail.tsx'

/** Milliseconds between two looks at an order that something is being done to, where no change feed tells of it. */
const WATCH = 2500

export default function ProxiesPage() {
  const { id } = useParams()
  const collection = Number(id)
  const known = Number.isSafeInteger(collection) && collection > 0 ? collection : undefined
  return <Proxies key={known ?? 'all'} collection={known} />
}

function Proxies({ collection }: { collection: number | undefined }) {
  const t = useT()
  const interval = usePollInterval(WATCH)
  const paging = usePaging(5)
  const [chosen, setChosen] = useState<number | null>(null)
  const [payment, setPayment] = useState<Pending | null>(null)
  const { data, isPending, error, refetch } = useQuery({
    ...read(orders.list, { query: { limit: paging.limit, offset: paging.offset, product_type: collection } }),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data?.data.some(isMoving) ? interval : false)
  })
  const rows = data?.data
  // Until one is chosen, the newest order's proxies are shown.
  const selected = rows?.find(order => order.id === chosen) ?? rows?.[0]

  const cancel = useCancel()
  const pay = (pending: Pending) => {
    keepPayment(pending)
    setPayment(pending)
  }
  return (
    <div className="stack" style={{ gap: '1.5rem' }}>
      <DataTable
        label={t('orders.label')}
        columns={orderColumns({
          t,
          selected: selected?.id,
          onSelect: setChosen,
          onPay: pay,
          onCancel: id => void cancel.ask(id)
        })}
        rows={rows}
        rowKey={order => order.id}
        pending={isPending}
        error={error}
        errorText={t('orders.failed')}
        onRetry={() => void refetch()}
        empty={{
          title: t('orders.none'),
          body: t('orders.noneHint'),
          action: (
            <Button component={Link} to={collection ? `/product?parId=${collection}` : '/product'}>
              {t('orders.shop')}
            </Button>
          )
        }}
        paging={paging}
        total={data?.total}
        selected={selected?.id ?? null}
        problem={isProblem}
      />
      {(isPending || rows?.length !== 0) && !(error && !data) && (
        <ProxyPanel key={selected?.id ?? 0} order={selected} />
      )}
      {selected?.pay_status === 1 && (
        <TrafficPanel
          key={`traffic ${selected.id}`}
          query={range => read(orders.traffic, { params: { id: selected.id }, query: range })}
        />
      )}
      <RenewalFromMail />
      {payment && <PaymentDialog pending={payment} onClose={() => setPayment(null)} />}
    </div>
  )
}
