import { sameEmail } from './customers.ts'
import type { DiscountCode, PlatformState } from './state.ts'

export const findDiscount = (state: PlatformState, code: string): DiscountCode | undefined =>
  state.discountCodes.find(one => one.code.toLowerCase() === code.toLowerCase())

/** Orders that used a code, including refunded ones, as on the platform. */
export const usesOf = (state: PlatformState, { code }: DiscountCode) =>
  state.orders.filter(order => order.discounts.some(one => one.code.toLowerCase() === code.toLowerCase()))

export function statusOf({ startsAt, endsAt }: DiscountCode, now: number): 'ACTIVE' | 'EXPIRED' | 'SCHEDULED' {
  if (startsAt && Date.parse(startsAt) > now) return 'SCHEDULED'
  return endsAt && Date.parse(endsAt) <= now ? 'EXPIRED' : 'ACTIVE'
}

export type WhyNot = 'ended' | 'used_up' | 'used_by_you' | 'for_others' | 'too_few'

/** Why a code is refused for this buyer now; null if it is valid. */
export function whyNotFor(
  state: PlatformState,
  discount: DiscountCode,
  { email, now, quantity }: { email: string; now: number; quantity: number }
): WhyNot | null {
  if (statusOf(discount, now) !== 'ACTIVE') return 'ended'
  const uses = usesOf(state, discount)
  if (uses.length >= (discount.usageLimit ?? Number.POSITIVE_INFINITY)) return 'used_up'
  if (discount.oncePerCustomer && uses.some(order => sameEmail(order.email, email))) return 'used_by_you'
  if (quantity < (discount.minimum ?? 0)) return 'too_few'
  const { customers } = discount
  if (customers && !(state.customers ?? []).some(one => customers.includes(one.id) && sameEmail(one.email, email)))
    return 'for_others'
  return null
}
