import '../../kit/styles/forms.ts'
import type { Order } from '@netlet/contract'
import { Button, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'react-router'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { DataTable, type Column } from '../../kit/data-table.tsx'
import { money } from '../../kit/money.ts'
import { isMoving, isProblem, OrderStateBadge } from '../../kit/order-state.tsx'
import { Ago, Day } from '../../kit/time.tsx'
import { usePaging } from '../../kit/use-paging.ts'
import classes from './orders.module.css'
import { StatisticsCards } from './statistics-cards.tsx'

const WATCH = 5000

export default function OrdersPage() {
  const { username } = useParams()
  return <Orders key={username ?? ''} initial={username ?? ''} />
}

/** `initial`: the search that the address asks for. */
function Orders({ initial }: { initial: string }) {
  const t = useT()
  const [typed, setTyped] = useState(initial)
  const [search, setSearch] = useState(initial)
  const paging = usePaging(10, search)
  const { data, isPending, error, refetch } = useQuery({
    ...read(orders.list, { query: { limit: paging.limit, offset: paging.offset, search: search || undefined } }),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data?.data.some(isMoving) ? WATCH : false)
  })
  const columns: Column<Order>[] = [
    {
      key: 'order',
      title: t('orders.order'),
      lead: true,
      render: order => (
        <div className={classes.order}>
          <strong className="mono">{order.order_id}</strong>
          {order.shopify_order_number && <span className="mono">{order.shopify_order_number}</span>}
        </div>
      )
    },
    {
      key: 'user',
      title: t('orders.user'),
      render: order => (
        <div className={classes.order}>
          <strong>{order.username}</strong>
          <span>{order.email}</span>
        </div>
      )
    },
    {
      key: 'product',
      title: t('orders.product'),
      render: order => (
        <div className={classes.order}>
          <strong>{order.product_name}</strong>
          <span>{order.variant_name}</span>
        </div>
      )
    },
    { key: 'state', title: t('orders.state'), wide: true, render: order => <OrderStateBadge order={order} /> },
    {
      key: 'delivered',
      title: t('orders.delivered'),
      align: 'end',
      render: order => `${order.delivery_num}/${order.proxy_num}`
    },
    {
      key: 'amount',
      title: t('orders.amount'),
      align: 'end',
      render: order => money(order.pay_amount ?? order.amount)
    },
    { key: 'created', title: t('orders.created'), render: order => <Day at={order.created_at} /> },
    {
      key: 'expires',
      title: t('orders.expires'),
      render: order => (order.expired_at ? <Ago at={order.expired_at} /> : <span className="dim">–</span>)
    }
  ]
  return (
    <div className="stack">
      <StatisticsCards />
      <form
        role="search"
        className={classes.search}
        onSubmit={event => {
          event.preventDefault()
          setSearch(typed.trim())
        }}
      >
        <TextInput
          type="search"
          aria-label={t('orders.searchLabel')}
          placeholder={t('orders.searchLabel')}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
        />
        <Button type="submit">{t('orders.search')}</Button>
      </form>
      <DataTable
        label={t('orders.label')}
        columns={columns}
        rows={data?.data}
        rowKey={order => order.id}
        pending={isPending}
        error={error}
        errorText="搜索失败"
        onRetry={() => void refetch()}
        empty={{
          title: search ? t('orders.noMatch') : t('orders.none'),
          body: search ? t('orders.noMatchHint') : t('orders.noneHint')
        }}
        paging={paging}
        total={data?.total}
        problem={isProblem}
      />
    </div>
  )
}
