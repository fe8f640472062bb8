import type { Order } from '@netlet/contract'
import { DELIVERED_IN, ORDER_STATES } from '@netlet/contract/states'
import {
  IconActivity,
  IconArrowsTransferUp,
  IconCopy,
  IconDownload,
  IconKey,
  IconListDetails,
  IconReplace,
  IconRotateClockwise,
  IconTrash,
  IconTruckDelivery,
  IconX
} from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { orders, payments } from '../../api/routes.ts'
import { t as adminT, useT } from '../../i18n/admin.ts'
import { t as sharedT } from '../../i18n/index.ts'
import { t as accountT } from '../../i18n/account.ts'
import { toClipboard } from '../../kit/copy-button.tsx'
import { money, money as amount, numberText } from '../../kit/money.ts'
import { notify } from '../../kit/notify.ts'
import { isRunning, orderFailure, whyNoProxies, whyNotAsk } from '../../kit/order-obstacles.ts'
import { isMoving, isProblem, OrderStateBadge } from '../../kit/order-state.tsx'
import { Ago } from '../../kit/time.tsx'
import { MoveOrderForm } from '../../kit/schemas.ts'
import {
  column,
  date,
  dayFilter,
  defineResource,
  deletion,
  download,
  fetchCsv,
  idField,
  idFilter,
  integer,
  monthFilter,
  noteFields,
  oneOf,
  saveFile,
  type Selected,
  stamp,
  StatList,
  type T,
  textFilter,
  toTell,
  type Tools,
  type WhyNot
} from '../kit/index.ts'
import { useServerGroups, useServers } from '../servers/state.ts'
import { AmountCell, Facts, OrderCell, pathOfOrder, ProductCell, useCollections, UserCell, Waited } from './cells.tsx'
import { credit, extend } from './expiry.tsx'
import { obstacle, whyNotMove } from './why-not.ts'
import { refund } from './refund.ts'
import { none } from '../../kit/none.tsx'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Timeline } from './timeline.tsx'
import { useAddress } from '../../kit/use-address.ts'
import { useParams } from 'react-router'

function StatisticsCards() {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(orders.statistics))
  if (error && !data)
    return (
      <div className="card">
        <ErrorState error={error} fallback="获取订单统计数据失败" onRetry={() => void refetch()} />
      </div>
    )
  const stats: [string, string | undefined][] = [
    [t('stats.total'), data && numberText(data.total)],
    [t('stats.paid'), data && numberText(data.paid)],
    [t('stats.unpaid'), data && numberText(data.unpaid)],
    [t('stats.today'), data && numberText(data.today)],
    [t('stats.totalAmount'), data && money(data.totalAmount)],
    [t('stats.monthlyAmount'), data && money(data.monthlyAmount)],
    [t('stats.dailyAmount'), data && money(data.dailyAmount)]
  ]
  return (
    <StatList
      stats={stats.map(([title, value]) => [title, value ?? <Skeleton height={24} width={64} />])}
      pending={isPending}
    />
  )
}

/** The figures, and a note that sorting by delivery time covers only this week, because the index does. */
function OrdersHead() {
  const t = useT()
  const { query } = useAddress()
  const isOfWeek = query.get('sort')?.startsWith('delivery_seconds.') && !query.has('delivered_in')
  return (
    <>
      <StatisticsCards />
      {isOfWeek && <p role="status">{t('orders.weekAlone')}</p>}
    </>
  )
}

type Props = { id: number; row: Order | undefined; tools: Tools }

/** The number of timeline entries in the drawer. */
const LATEST = 5

/** A summary of an order beside the list. Its page has the rest. */
function OrderDrawer({ id, row, tools }: Props) {
  const t = useT()
  const { data, error, refetch } = useQuery({
    ...read(orders.order, { params: { id } }),
    // The list already has it and keeps it current.
    enabled: !row
  })
  const order = row ?? data
  if (error && !order) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!order) return <Skeleton height={320} />
  return (
    <div className="stack">
      <Facts order={order} />
      <div>
        <Button variant="default" size="sm" onClick={() => void tools.go(pathOfOrder(id))}>
          {t('orders.openPage')}
        </Button>
      </div>
      <Timeline order={order} latest={LATEST} />
    </div>
  )
}

/** Milliseconds. A large order takes a while. */
const COPY_TIMEOUT = 30_000
const RESET_FAILED = '批量重置代理失败'

/** Failures after which the payment does not count unless an operator delivers anyway. */
const UNPAID_FAILURES = new Set([
  'underpaid',
  'lines_missing',
  'purchase_not_sold',
  'wrong_currency',
  'test_payment',
  'cancelled'
])

const isUnpaidFor = ({ state, fail }: Order) => state === 'failed' && fail !== null && UNPAID_FAILURES.has(fail.code)

/** Delivering an unpaid order settles its payment, so it needs the permission for payments. */
const whyNotDeliver: WhyNot<Order> = (order, me) =>
  isUnpaidFor(order) && !may(me, 'payments.change') ? 'whyNot.order.heldPayment' : obstacle(whyNotAsk(order, 'deliver'))

function deliverQuestion(t: T, order: Order) {
  if (!isUnpaidFor(order)) return undefined
  return {
    title: t('orders.deliverTitle'),
    body: t('orders.deliverBody', {
      order: order.order_id,
      why: orderFailure(accountT, order) ?? '',
      paid: amount(order.pay_amount ?? '0.00'),
      amount: amount(order.amount),
      count: order.proxy_num
    }),
    danger: true
  }
}

const queued = (t: T) => t('orders.queued')
async function copyProxies(order: Order): Promise<void> {
  const { proxy_lines } = await call(orders.copyProxies, { params: { id: order.id } }, { timeout: COPY_TIMEOUT })
  if (proxy_lines.length === 0) throw new Error(adminT('orders.noProxies'))
  const copied = await toClipboard(proxy_lines.join('\n'))
  notify(copied ? 'good' : 'bad', sharedT(copied ? 'copy.done' : 'copy.failed'))
}

async function exportOrders(selected: Selected): Promise<void> {
  const name = `orders_${stamp(new Date())}.csv`
  if ('ids' in selected) saveFile(name, await fetchCsv(orders.exportSelected, { body: { order_ids: selected.ids } }))
  else await download(name, orders.list, { ...selected.query, ...selected.sort, format: 'csv' })
}

export const Orders = defineResource({
  key: 'orders',
  list: orders.list,
  also: [orders.statistics, orders.order, orders.proxies, orders.proxyDetail, orders.timeline, payments.ofOrder],
  nameOf: order => order.order_id,
  find: id => call(orders.order, { params: { id } }),
  problem: isProblem,
  moving: isMoving,
  failure: '搜索失败',
  columns: [
    integer('id', { optional: true }),
    column('order', (order: Order) => <OrderCell order={order} />, { lead: true }),
    column('user', (order: Order) => <UserCell order={order} />),
    column('product', (order: Order) => <ProductCell order={order} />),
    column('state', (order: Order) => <OrderStateBadge order={order} />, { wide: true }),
    column('delivered', (order: Order) => `${order.delivery_num}/${order.proxy_num}`, { align: 'end' }),
    column('delivery_seconds', (order: Order) => <Waited order={order} />, { align: 'end', optional: true }),
    column('amount', (order: Order) => <AmountCell order={order} />, { align: 'end' }),
    date('created_at'),
    column('expired_at', (order: Order) =>
      // A refund ends an order, so its original end no longer applies.
      order.expired_at && order.state !== 'refunded' ? <Ago at={order.expired_at} /> : none
    )
  ],
  sort: ['id', 'expired_at', 'amount', 'delivery_seconds'],
  filters: [
    oneOf('state', ORDER_STATES, 'orders.is'),
    oneOf('pay_status', ['1', '0'], 'orders.payment'),
    oneOf('problem', ['1'], 'orders.trouble'),
    dayFilter('ends_on'),
    dayFilter('placed_on'),
    monthFilter('placed_in'),
    dayFilter('paid_on'),
    monthFilter('paid_in'),
    oneOf('delivered_in', DELIVERED_IN, 'orders.deliveredIn'),
    idFilter('product_type', useCollections),
    textFilter('order_id'),
    textFilter('username'),
    textFilter('product_name')
  ],
  above: OrdersHead,
  drawer: OrderDrawer,
  rowActions: [
    { name: 'details', icon: IconListDetails, run: ({ id }, { go }) => go(pathOfOrder(id)) },
    {
      name: 'reset',
      icon: IconKey,
      route: orders.resetPassword,
      whyNot: order => obstacle(whyNotAsk(order, 'reset')),
      confirm: (t, order) =>
        toTell(t, {
          title: t('orders.resetTitle'),
          body: t('orders.resetBody', { order: order.order_id }),
          danger: true
        }),
      success: queued
    },
    {
      name: 'check',
      icon: IconActivity,
      route: orders.check,
      whyNot: order => obstacle(whyNotAsk(order, 'check')),
      success: queued
    },
    {
      name: 'change',
      icon: IconReplace,
      route: orders.change,
      whyNot: order => obstacle(whyNotAsk(order, 'change')),
      confirm: (t, order) =>
        toTell(t, {
          title: t('orders.changeTitle'),
          body: t('orders.changeBody', { order: order.order_id }),
          danger: true
        }),
      success: queued
    },
    {
      name: 'deliver',
      icon: IconTruckDelivery,
      route: orders.deliver,
      whyNot: whyNotDeliver,
      confirm: deliverQuestion,
      success: queued
    },
    {
      name: 'move',
      icon: IconArrowsTransferUp,
      whyNot: whyNotMove,
      form: {
        schema: MoveOrderForm,
        fields: [
          idField('from_server_id', { useOptions: useServers, useNone: () => useT()('orders.fromAll') }),
          idField('server_id', { useOptions: useServers, useNone: () => useT()('orders.toAny') }),
          idField('group_id', { useOptions: useServerGroups, useNone: () => useT()('orders.toOwnGroup') }),
          ...noteFields
        ],
        route: orders.move
      },
      confirm: (t, order) => ({
        title: t('orders.moveTitle'),
        body: t('orders.moveBody', { order: order.order_id }),
        danger: true
      }),
      success: t => t('orders.moveDone')
    },
    {
      name: 'reopen',
      icon: IconRotateClockwise,
      route: orders.reopen,
      whyNot: order => (order.can_reopen ? undefined : 'whyNot.order.notReopenable'),
      confirm: (t, order) => ({
        title: t('orders.reopenTitle'),
        body: t('orders.reopenBody', { order: order.order_id })
      }),
      success: t => t('orders.reopenDone')
    },
    {
      name: 'cancel',
      icon: IconX,
      danger: true,
      route: orders.cancel,
      whyNot: order => (order.state === 'placed' ? undefined : 'whyNot.order.notPlaced'),
      confirm: (t, order) => ({
        title: t('orders.cancelTitle'),
        body: t('orders.cancelBody', { order: order.order_id }),
        danger: true
      }),
      success: t => t('orders.cancelDone')
    },
    {
      name: 'copy',
      icon: IconCopy,
      whyNot: order => obstacle(whyNoProxies(order)),
      run: copyProxies,
      needs: orders.copyProxies,
      failure: 'Replication failure'
    },
    extend,
    credit,
    refund
  ],
  remove: {
    route: orders.remove,
    whyNot: order =>
      order.holds_addresses ? 'whyNot.order.holdsAddresses' : isRunning(order) ? 'whyNot.order.running' : undefined,
    confirm: (t, order) => ({
      title: t('list.deleteTitle'),
      body: t('orders.deleteBody', {
        order: order.order_id,
        state: t(`orders.is.${order.state}`),
        count: order.delivery_num
      }),
      danger: true
    })
  },
  noneSelected: '请先选择订单',
  batch: [
    {
      name: 'order.change',
      planned: true,
      icon: IconReplace,
      failure: RESET_FAILED,
      confirm: (t, count) =>
        toTell(t, { title: t('orders.batchTitle', { count }), body: t('orders.batchChange'), danger: true }, 'many')
    },
    {
      name: 'order.reset',
      planned: true,
      icon: IconKey,
      failure: RESET_FAILED,
      confirm: (t, count) =>
        toTell(t, { title: t('orders.batchTitle', { count }), body: t('orders.batchReset'), danger: true }, 'many')
    },
    { name: 'order.check', icon: IconActivity },
    {
      name: 'order.deliver',
      planned: true,
      icon: IconTruckDelivery,
      confirm: (t, count) => ({ title: t('orders.deliverCount', { count }), body: t('orders.batchDeliver') })
    },
    { name: 'export', icon: IconDownload, run: exportOrders, failure: '导出订单数据失败' },
    { name: 'order.delete', planned: true, icon: IconTrash, danger: true, confirm: deletion }
  ],
  csv: true
})

/** The path's username is the initial search. */
function OrdersPage() {
  const { username = '' } = useParams()
  return <Orders key={username} search={username} />
}

export default Object.assign(OrdersPage, { resource: Orders.resource })
