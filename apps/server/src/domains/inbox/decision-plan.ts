import type { DecisionPlan } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { DAY, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { versionOf } from '../../infra/version.ts'
import type { OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import type { PaymentRow } from '../payments/index.ts'

/** The order that a decision is about, as this transaction has it; undefined where there is none. */
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

/** What a decision did to its order, by how that was before and is after. */
export function planOfDecision(
  payment: Pick<PaymentRow, 'charged' | 'currency'> | null,
  before: OrderRow | undefined,
  after: OrderRow | undefined
): DecisionPlan {
  const effect = before && after ? effectOf(before, after) : NOTHING
  return {
    // Not `until`: of what is delivered now it is another one at each look.
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
/** Over, or not begun: nothing of such an order works. */
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

/** In days, from whatever: what is not delivered yet has only what was added to its term. */
const termOf = ({ expiredAt, extraDays }: OrderRow): number =>
  expiredAt ? Math.round(expiredAt.getTime() / DAY) : extraDays
