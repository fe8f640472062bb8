import type { Order } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { durationText } from '../../kit/number.ts'
import { money } from '../../kit/money.ts'
import { OrderLink } from './order-link.tsx'
import classes from './orders.module.css'
import { none } from '../../kit/none.tsx'

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
