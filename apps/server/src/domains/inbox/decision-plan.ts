import type { DecisionPlan } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { DAY, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { versionOf } from '../../infra/version.ts'
import type { OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import type { PaymentRow } from '../payments/index.ts'

/** The order that a decision is about, as this transaction reads it. */
export async function orderNow(
  db: Executor,
  about: { id: number | null } | { publicId: string }
): Promise<OrderRow | undefined> {
  const [order] = await db
    .select()
    .from(orders)
    .where('publicId' in about ? eq(orders.publicId, about.publicId) : eq(orders.id, about.id ?? 0))
  return order
}

/** What a decision did to its order, from the order's row before and after. */
export function planOfDecision(
  payment: Pick<PaymentRow, 'charged' | 'currency'> | null,
  before: OrderRow | undefined,
  after: OrderRow | undefined
): DecisionPlan {
  const effect = before && after ? effectOf(before, after) : NOTHING
  return {
    // `until` is not part of the version: the end of a delivery that starts now moves with the clock.
    version: versionOf({ order: after?.publicId ?? null, ...effect }),
    charged: payment?.charged ?? null,
    currency: payment?.currency ?? null,
    order: after?.publicId ?? null,
    ...effect,
    until: effect.does === 'nothing' ? null : isoOrNull(after?.expiredAt ?? null)
  }
}

type Effect = Pick<DecisionPlan, 'does' | 'proxies' | 'days'>
const NOTHING: Effect = { does: 'nothing', proxies: 0, days: 0 }
/** States in which an order serves no proxies: it has not started, or it is over. */
const AT_REST = new Set<OrderRow['state']>(['placed', 'timed_out', 'cancelled', 'expired', 'failed', 'refunded'])

function effectOf(before: OrderRow, after: OrderRow): Effect {
  const worked = !AT_REST.has(before.state)
  const works = !AT_REST.has(after.state)
  if (works !== worked ? worked : after.state === 'refunded' && before.state !== 'refunded')
    return { does: 'ends', proxies: worked ? before.deliveryNum : 0, days: 0 }
  if (!worked && works)
    return before.state === 'expired'
      ? { does: 'revives', proxies: after.quantity, days: after.proxyTime }
      : { does: 'delivers', proxies: after.quantity, days: after.proxyTime + (after.expiredAt ? 0 : after.extraDays) }
  const days = termOf(after) - termOf(before)
  if (!works || days === 0) return NOTHING
  return { does: days > 0 ? 'renews' : 'shortens', proxies: 0, days: Math.abs(days) }
}

/** The end of a term in days, for differences only. An undelivered order has no end yet, only its extra days. */
const termOf = ({ expiredAt, extraDays }: OrderRow): number =>
  expiredAt ? Math.round(expiredAt.getTime() / DAY) : extraDays
