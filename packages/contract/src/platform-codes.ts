import { z } from 'zod'
import { Money, Time } from './shapes.ts'

/** What the shop keeps as codes that are a discount on the platform; the names are those of RESOURCES. */
export const CODE_KINDS = ['coupon', 'gift_card', 'level_code'] as const
export type CodeKind = (typeof CODE_KINDS)[number]

/**
 * What the platform has under a code: nobody looked yet, a look or a change is under way, the discount that it should be,
 * another one, none, or the platform refuses to have it. A code that was used or handed out is looked at no more.
 */
export const CODE_STATES = ['unknown', 'waiting', 'present', 'differs', 'missing', 'refused'] as const
export type CodeState = (typeof CODE_STATES)[number]

/**
 * In what the platform's discount is another one than the shop's code says. `used`: it has been used up there, by what no
 * order of the code's holder paid for. `foreign`: beside the others, the shop did not make it, and so does not mend it.
 */
export const CODE_DIFFERENCES = [
  'kind',
  'value',
  'items',
  'minimum',
  'holder',
  'uses',
  'once',
  'ended',
  'used',
  'foreign'
] as const
export type CodeDifference = (typeof CODE_DIFFERENCES)[number]

/** What a discount is counted in: the shop's currency, or percent. */
export const DISCOUNT_TYPES = ['amount', 'percent'] as const
export type DiscountType = (typeof DISCOUNT_TYPES)[number]

/**
 * What a level takes off all of an order at the checkout, by the code in the order's link. Only a code that the platform
 * was seen to have as it should be promises anything.
 */
export const LevelDiscount = z.object({ level: z.number(), discount: Money, discount_type: z.enum(DISCOUNT_TYPES) })
export type LevelDiscount = z.infer<typeof LevelDiscount>

/** Fields of each row that has a code; all null for those who may not know. */
export const onPlatform = {
  platform_state: z.enum(CODE_STATES).nullable(),
  /** Where the state is `differs`: in what. */
  platform_differs: z.array(z.enum(CODE_DIFFERENCES)),
  /** What the platform said, where it refused, or where the last try failed and another one follows. */
  platform_problem: z.string().nullable(),
  platform_checked_at: Time.nullable()
}

/** What can be asked of the platform about one code. `create`: make it there, and make one of the shop's as it should be. */
export const CODE_ACTS = ['check', 'create'] as const
export type CodeAct = (typeof CODE_ACTS)[number]

export const CodeOrder = z.object({ kind: z.enum(CODE_KINDS), id: z.int().min(1), act: z.enum(CODE_ACTS) })
