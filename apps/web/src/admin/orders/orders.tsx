import type { Order, OrderState } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import {
  IconActivity,
  IconArrowsTransferUp,
  IconCalendarPlus,
  IconCopy,
  IconDownload,
  IconKey,
  IconListDetails,
  IconReceiptRefund,
  IconReplace,
  IconTrash,
  IconRotateClockwise,
  IconTruckDelivery,
  IconX
} from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { orders } from '../../api/routes.ts'
import { t as adminT, useT } from '../../i18n/admin.ts'
import { t as sharedT } from '../../i18n/index.ts'
import { t as accountT } from '../../i18n/account.ts'
import { toClipboard } from '../../kit/clipboard.ts'
import { money as amount } from '../../kit/money.ts'
import { notify } from '../../kit/notify.ts'
import { orderFailure } from '../../kit/order-failure.ts'
import { hasProxies, mayAsk, mayExtend } from '../../kit/order-may.ts'
import { isMoving, isProblem, OrderStateBadge } from '../../kit/order-state.tsx'
import { Ago } from '../../kit/time.tsx'
import { ExtendForm, MoveOrderForm, RefundForm } from '../../kit/schemas.ts'
import {
  column,
  date,
  defineResource,
  deletion,
  fetchCsv,
  idField,
  idFilter,
  integer,
  moneyField,
  oneOf,
  optional,
  saveFile,
  stamp,
  textField,
  textFilter,
  timeField,
  type Selected,
  type T
} from '../kit/index.ts'
import { OrderCell, ProductCell, UserCell, useCollections, useServerGroups, useServers } from './cells.tsx'
import { OrderDetail } from './detail.tsx'
import { OrderDrawer } from './drawer.tsx'
import { StatisticsCards } from './statistics-cards.tsx'

/** Milliseconds: a large order takes its time. */
const COPY_TIMEOUT = 30_000
const RESET_FAILED = '批量重置代理失败'

// Named here and not taken from the contract, whose list would bring the validation library's schemas with it.
const STATES: Record<OrderState, true> = {
  placed: true,
  timed_out: true,
  cancelled: true,
  paid: true,
  delivering: true,
  partly_delivered: true,
  delivered: true,
  expired: true,
  failed: true,
  refunded: true
}

const paid = (order: Order) => order.pay_status === 1
const leftOf = ({ pay_amount, refunded_amount }: Order): string =>
  fromCents(toCents(pay_amount ?? '0.00') - toCents(refunded_amount))

/** Failures in which the payment did not pay for what is then delivered. */
const UNPAID_FAILURES = new Set(['underpaid', 'lines_missing', 'wrong_currency', 'test_payment'])

function deliverQuestion(t: T, order: Order) {
  if (order.state !== 'failed' || !order.fail || !UNPAID_FAILURES.has(order.fail.code)) return undefined
  return {
    title: t('orders.deliverTitle'),
    body: t('orders.deliverBody', {
      order: order.order_id,
      why: orderFailure(accountT, order) ?? '',
      paid: order.pay_amount ?? '0.00',
      amount: order.amount,
      count: order.proxy_num
    }),
    danger: true
  }
}

const queued = (t: T) => t('orders.queued')
/** What the server moves: addresses of an order whose time runs, or that is still to be delivered. */
const isHeld = (order: Order) =>
  paid(order) && !order.is_expired && !['failed', 'expired', 'refunded'].includes(order.state)

async function copyProxies(order: Order): Promise<void> {
  const { proxy_lines } = await call(orders.copyProxies, { params: { id: order.id } }, { timeout: COPY_TIMEOUT })
  if (proxy_lines.length === 0) throw new Error(adminT('orders.noProxies'))
  const copied = await toClipboard(proxy_lines.join('\n'))
  notify(copied ? 'good' : 'bad', sharedT(copied ? 'copy.done' : 'copy.failed'))
}

async function exportOrders(selected: Selected): Promise<void> {
  const csv = await ('ids' in selected
    ? fetchCsv(orders.export, { order_ids: selected.ids.join(',') })
    : fetchCsv(orders.list, { ...selected.query, format: 'csv' }))
  saveFile(`orders_${stamp(new Date())}.csv`, csv)
}

/** All orders of the shop. */
export const Orders = defineResource({
  key: 'orders',
  list: orders.list,
  also: [orders.statistics, orders.proxyDetail, orders.events],
  nameOf: order => order.order_id,
  find: async id => (await call(orders.proxyDetail, { params: { id }, query: { limit: 1 } })).order,
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
    column('amount', (order: Order) => amount(order.pay_amount ?? order.amount), { align: 'end' }),
    date('created_at'),
    column('expired_at', (order: Order) =>
      // The time of a refunded one ended with the refund, whatever it would have been.
      order.expired_at && order.state !== 'refunded' ? <Ago at={order.expired_at} /> : <span className="dim">–</span>
    )
  ],
  sort: ['id', 'expired_at', 'amount'],
  filters: [
    oneOf('state', Object.keys(STATES), 'orders.is'),
    oneOf('pay_status', ['1', '0'], 'orders.payment'),
    oneOf('problem', ['1'], 'orders.trouble'),
    idFilter('product_type', useCollections),
    textFilter('order_id'),
    textFilter('username'),
    textFilter('product_name')
  ],
  above: StatisticsCards,
  drawer: OrderDrawer,
  detail: OrderDetail,
  rowActions: [
    { name: 'details', icon: IconListDetails, run: (order, { detail }) => detail(order.id) },
    {
      name: 'reset',
      icon: IconKey,
      route: orders.resetPassword,
      when: order => mayAsk(order, 'reset'),
      confirm: (t, order) => ({
        title: t('orders.resetTitle'),
        body: t('orders.resetBody', { order: order.order_id }),
        danger: true
      }),
      success: queued
    },
    { name: 'check', icon: IconActivity, route: orders.check, when: order => mayAsk(order, 'check'), success: queued },
    {
      name: 'change',
      icon: IconReplace,
      route: orders.change,
      when: order => mayAsk(order, 'change'),
      confirm: (t, order) => ({
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
      when: order => mayAsk(order, 'deliver'),
      confirm: deliverQuestion,
      success: queued
    },
    {
      name: 'move',
      icon: IconArrowsTransferUp,
      when: isHeld,
      form: {
        schema: MoveOrderForm,
        fields: [
          idField('from_server_id', { useOptions: useServers, useNone: () => useT()('orders.fromAll') }),
          idField('server_id', { useOptions: useServers, useNone: () => useT()('orders.toAny') }),
          idField('group_id', { useOptions: useServerGroups, useNone: () => useT()('orders.toOwnGroup') })
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
      when: order => order.can_reopen,
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
      when: order => order.state === 'placed',
      confirm: (t, order) => ({
        title: t('orders.cancelTitle'),
        body: t('orders.cancelBody', { order: order.order_id }),
        danger: true
      }),
      success: t => t('orders.cancelDone')
    },
    { name: 'copy', icon: IconCopy, when: hasProxies, run: copyProxies, failure: 'Replication failure' },
    {
      name: 'extend',
      icon: IconCalendarPlus,
      when: mayExtend,
      form: { schema: ExtendForm, fields: [timeField('expired_at')], route: orders.extend }
    },
    {
      name: 'refund',
      icon: IconReceiptRefund,
      danger: true,
      // Renewals of a refunded one are given back by the platform's number of theirs.
      when: paid,
      form: {
        schema: RefundForm,
        fields: [
          {
            ...optional(moneyField('amount')),
            shown: () => '',
            placeholder: (t, order) => t('orders.refundAll', { left: leftOf(order as Order) }),
            help: t => t('orders.refundHelp')
          },
          { ...optional(textField('platform_order')), help: t => t('orders.platformOrderHelp') }
        ],
        route: orders.refund
      },
      success: t => t('orders.refundDone')
    }
  ],
  remove: {
    route: orders.remove,
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
      icon: IconReplace,
      failure: RESET_FAILED,
      confirm: (t, count) => ({
        title: t('orders.batchTitle', { count }),
        body: t('orders.batchChange'),
        danger: true
      })
    },
    {
      name: 'order.reset',
      icon: IconKey,
      failure: RESET_FAILED,
      confirm: (t, count) => ({ title: t('orders.batchTitle', { count }), body: t('orders.batchReset'), danger: true })
    },
    { name: 'order.check', icon: IconActivity },
    { name: 'order.deliver', icon: IconTruckDelivery },
    { name: 'export', icon: IconDownload, run: exportOrders, failure: '导出订单数据失败' },
    { name: 'order.delete', icon: IconTrash, danger: true, confirm: deletion }
  ],
  csv: true
})
