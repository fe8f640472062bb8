import type { Order } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { durationText, money, numberText } from '../../kit/money.ts'
import classes from './orders.module.css'
import { none } from '../../kit/none.tsx'
import { useState } from 'react'
import { planName } from '@netlet/contract/languages'
import { useT as useAccountT } from '../../i18n/account.ts'
import { orderFailure } from '../../kit/order-obstacles.ts'
import { OrderStateBadge } from '../../kit/order-state.tsx'
import { Moment } from '../../kit/time.tsx'
import { type Fact, FactList } from '../kit/index.ts'

export const OrderCell = ({ order }: { order: Order }) => (
  <div className={`stack start ${classes.order}`} style={{ gap: 0 }}>
    <OrderLink id={order.id} number={order.order_id} />
    {order.shopify_order_number && <span className="mono">{order.shopify_order_number}</span>}
  </div>
)

/** Links to the user by username. */
export const UserCell = ({ order }: { order: Order }) => (
  <div className={`stack start ${classes.order} ${classes.clip}`} style={{ gap: 0 }}>
    <Link to={`${pageAt('userList')}?search=${encodeURIComponent(order.username)}`} title={order.username}>
      {order.username}
    </Link>
    <span title={order.email}>{order.email}</span>
  </div>
)

export const ProductCell = ({ order }: { order: Order }) => (
  <div className={`stack start ${classes.order} ${classes.clip}`} style={{ gap: 0 }}>
    <strong title={order.product_name}>{order.product_name}</strong>
    {order.variant_name !== order.product_name && <span title={order.variant_name}>{order.variant_name}</span>}
  </div>
)

/** The order's amount, by which the list sorts. Also what was paid, if it differs. */
export function AmountCell({ order: { amount, pay_amount } }: { order: Order }) {
  const t = useT()
  return (
    <div className={`stack start ${classes.order} ${classes.amount}`} style={{ gap: 0 }}>
      {money(amount)}
      {pay_amount !== null && pay_amount !== amount && (
        <span>{t('orders.paidOther', { paid: money(pay_amount) })}</span>
      )}
    </div>
  )
}

/** How long the customer waited between payment and working proxies. */
export function Waited({ order }: { order: Order }) {
  const language = useLanguage()
  if (order.delivery_seconds === null) return none
  return <span className="num">{durationText(order.delivery_seconds, language)}</span>
}

/** All product types, as filter options. The limit is the largest page the server returns. */
export function useCollections() {
  const { data } = useQuery(read(catalog.collections, { query: { limit: 10_000 } }))
  return (data?.data ?? []).map(({ id, collection_name }) => ({ value: String(id), label: collection_name }))
}

const LIST = pageAt('Orders')
export const pathOfOrder = (id: number): string => pageAt('order', { id })

/** The list's address when this page was opened from it, else the plain list. */
export function useListLeft(): string {
  const { state } = useLocation()
  const from = (state as { from?: unknown } | null)?.from
  const [left] = useState(typeof from === 'string' && /^\/dashboard\/index\/orders([/?]|$)/.test(from) ? from : LIST)
  return left
}

/** Links to an order's page. Back returns to the list in its current state. */
export function OrderLink({ id, number }: { id: number; number: string }) {
  const { pathname, search } = useLocation()
  return (
    <Link className="mono whole" to={pathOfOrder(id)} state={{ from: pathname + search }}>
      {number}
    </Link>
  )
}

/** The family of the order's addresses, and how connections leave. */
const addressKind = ({ address_family: family, egress }: Order, t: ReturnType<typeof useT>) =>
  family === 'ipv6' ? `${t('products.family.ipv6')}, ${t(`products.egress.${egress}`)}` : t(`products.family.${family}`)

export function Facts({ order }: { order: Order }) {
  const t = useT()
  const accountT = useAccountT()
  const facts: Fact[] = [
    [t('orders.order_id'), <span className="mono">{order.order_id}</span>],
    [t('orders.state'), <OrderStateBadge order={order} />],
    [t('orders.user'), <UserCell order={order} />],
    [t('orders.ownLabel'), order.label],
    [t('orders.product'), planName(order)],
    [t('orders.quantity'), numberText(order.product_quantity)],
    [t('orders.addressKind'), addressKind(order, t)],
    [t('orders.delivered'), `${order.delivery_num}/${order.proxy_num}`],
    [t('orders.priced'), money(order.amount)],
    [t('orders.payed'), order.pay_amount && money(order.pay_amount)],
    [t('orders.refunded'), order.refunded_amount !== '0.00' && money(order.refunded_amount)],
    [
      t('orders.platformOrder'),
      order.shopify_order_number && <span className="mono">{order.shopify_order_number}</span>
    ],
    [t('orders.created_at'), <Moment at={order.created_at} ago />],
    [t('orders.delivered_at'), order.delivered_at && <Moment at={order.delivered_at} ago />],
    [t('orders.expired_at'), order.expired_at && <Moment at={order.expired_at} ago />],
    [t('orders.grace_until'), order.grace_until && <Moment at={order.grace_until} ago />],
    [t('orders.reset_time'), order.reset_time && <Moment at={order.reset_time} ago />],
    [t('orders.rules'), order.acl_names.join(', ')],
    [t('orders.ownNote'), order.note && <span className="lines">{order.note}</span>, 'wide'],
    [t('orders.failure'), orderFailure(accountT, order)]
  ]
  return <FactList label={t('orders.facts')} facts={facts} />
}
