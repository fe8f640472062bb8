import { z } from 'zod'
import { Money, Time } from './shapes.ts'

/** Codes that are discounts on the platform. Their names are those of RESOURCES. */
export const CODE_KINDS = ['coupon', 'gift_card', 'level_code'] as const
export type CodeKind = (typeof CODE_KINDS)[number]

/**
 * The platform's state for a code: not checked, check or change in progress, correct, different, missing, or refused.
 * Codes that were used or handed out are no longer checked.
 */
export const CODE_STATES = ['unknown', 'waiting', 'present', 'differs', 'missing', 'refused'] as const
export type CodeState = (typeof CODE_STATES)[number]

/**
 * How the platform's discount differs from the shop's code. `comma`: a checkout link cannot name the code. `used`: used without an order of the code's holder.
 * `foreign`: also not made by the shop, which therefore does not correct it.
 */
export const CODE_DIFFERENCES = [
  'comma',
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

/** The unit of a discount: the shop's currency, or percent. */
export const DISCOUNT_TYPES = ['amount', 'percent'] as const
export type DiscountType = (typeof DISCOUNT_TYPES)[number]

/**
 * A level's discount on a whole order at the checkout, through the code in the order's link. Only codes seen to be
 * correct on the platform count.
 */
export const LevelDiscount = z.object({ level: z.number(), discount: Money, discount_type: z.enum(DISCOUNT_TYPES) })
export type LevelDiscount = z.infer<typeof LevelDiscount>

/** Fields of each row with a code; all null without the permission. */
export const onPlatform = {
  platform_state: z.enum(CODE_STATES).nullable(),
  /** The differences, if the state is `differs`. */
  platform_differs: z.array(z.enum(CODE_DIFFERENCES)),
  /** The platform's message if it refused, or if the last attempt failed and will be retried. */
  platform_problem: z.string().nullable(),
  platform_checked_at: Time.nullable()
}

/** Actions on one code. `create` creates it on the platform, or corrects one that the shop made. */
export const CODE_ACTS = ['check', 'create'] as const
export type CodeAct = (typeof CODE_ACTS)[number]

export const CodeOrder = z.object({ kind: z.enum(CODE_KINDS), id: z.int().min(1), act: z.enum(CODE_ACTS) })
