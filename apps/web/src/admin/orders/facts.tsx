import type { Order } from '@netlet/contract'
import { planName } from '@netlet/contract/in-language'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'
import { orderFailure } from '../../kit/order-failure.ts'
import { OrderStateBadge } from '../../kit/order-state.tsx'
import { Moment } from '../../kit/time.tsx'
import { FactList, type Fact } from '../kit/index.ts'
import { UserCell } from './cells.tsx'

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
