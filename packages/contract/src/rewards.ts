import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { toCents } from './money.ts'
import { listQuery, page } from './list.ts'
import { CODE_STATES, CodeOrder, DISCOUNT_TYPES, LevelDiscount, onPlatform } from './platform-codes.ts'
import { Done, IdParams, Instant, Money, MoneyInput, ReasonParams, Time, formVersion, text } from './shapes.ts'

/** 1 discount, 2 gift. */
export const CodeType = z.union([z.literal(1), z.literal(2)], { error: message('select_type') })

export const Coupon = z.object({
  id: z.number(),
  holder_username: z.string(),
  username: z.string(),
  code: z.string(),
  code_type: z.union([z.literal(1), z.literal(2)]),
  discount: Money,
  discount_type: z.enum(DISCOUNT_TYPES),
  is_used: z.boolean(),
  created_at: Time,
  ...onPlatform,
  version: z.string()
})
export type Coupon = z.infer<typeof Coupon>

/** Default for missing or empty: an amount, or unchanged in an edit. */
const DiscountTypeInput = z
  .union([z.enum(DISCOUNT_TYPES), z.literal('').transform(() => undefined)], { error: message('must_select') })
  .optional()

/** A checkout link names several codes with commas between them. */
const CodeInput = text(message('enter_code'), 64).refine(code => !/[,\p{Cc}]/u.test(code), message('code_characters'))

export const CouponForm = z.object({
  username: text(message('enter_holder'), 32),
  code: CodeInput,
  discount: MoneyInput(message('enter_discount')),
  discount_type: DiscountTypeInput,
  code_type: z
    .union([z.number(), z.enum(['1', '2']).transform(Number)], { error: message('select_type') })
    .pipe(CodeType),
  is_used: z.boolean().optional()
})

export const GiftCard = z.object({
  id: z.number(),
  mount: Money,
  point: z.number(),
  code: z.string(),
  is_exchanged: z.boolean(),
  created_at: Time,
  ...onPlatform,
  version: z.string()
})
export type GiftCard = z.infer<typeof GiftCard>

/** Whole points. An empty field is missing, not 0. */
const points = (wrong: string) =>
  z
    .union([z.number(), z.string().trim().regex(/^\d+$/).transform(Number)], { error: wrong })
    .pipe(z.int(wrong).min(0, wrong).max(1_000_000_000, wrong))

/** Dollars, above zero. */
const mount = MoneyInput(message('enter_mount')).refine(value => toCents(value) > 0n, message('enter_mount'))

const whole = (min: number, max: number) => {
  const wrong = message('must_be_whole_number', { min, max })
  return z
    .union([z.number(), z.string().trim().regex(/^\d+$/, wrong).transform(Number)], { error: wrong })
    .pipe(z.int(wrong).min(min, wrong).max(max, wrong))
}

export const GiftCardForm = z.object({
  mount,
  code: CodeInput,
  point: points(message('enter_point'))
})

/** Largest number of gift cards created at once. */
export const MOST_GIFT_CARDS = 200

/**
 * Several gift cards with generated codes. The caller chooses a random `batch`, from which the codes are derived, so
 * that a repeated call creates no more cards.
 */
export const GiftCardsForm = z.object({
  mount,
  point: points(message('enter_point')),
  count: whole(1, MOST_GIFT_CARDS),
  batch: z.string(message('needs_batch')).regex(/^[0-9a-f]{32}$/, message('needs_batch'))
})
export type GiftCardsForm = z.output<typeof GiftCardsForm>

export const LevelCode = z.object({
  id: z.number(),
  level: z.number(),
  discount: Money,
  discount_type: z.enum(DISCOUNT_TYPES),
  /** Null for anyone but administrators. */
  code: z.string().nullable(),
  point: z.number(),
  ...onPlatform,
  version: z.string()
})
export type LevelCode = z.infer<typeof LevelCode>

export const LevelCodeForm = z.object({
  discount: MoneyInput(message('enter_discount')),
  discount_type: DiscountTypeInput,
  code: CodeInput,
  point: points(message('enter_point'))
})

/** Why points or coins change, as sentences of the points history. Names in braces are parameters. */
export const POINT_REASONS = {
  payment: 'Payment of order {order}',
  invited_payment: 'Payment by {username} (invited by you)',
  invited: 'Invited {username}',
  refund: 'Refund of order {order}',
  refund_invited: 'Refund to {username} (invited by you)',
  withheld: 'Deducted for an earlier refund',
  exchange: 'Exchanged for a ${mount} gift card',
  chat_message: 'Chat message',
  decay: 'Monthly decay',
  set_by_admin: 'Set by an administrator'
} as const
export type PointReason = keyof typeof POINT_REASONS

export const PointRecord = z.object({
  id: z.number(),
  created_at: Time,
  reason: z.string(),
  reason_code: z.enum(Object.keys(POINT_REASONS) as [PointReason, ...PointReason[]]),
  params: ReasonParams,
  point: z.number(),
  kind: z.enum(['level', 'coins']),
  /** When the coins can be spent; null: now. */
  pending_until: Time.nullable()
})
export type PointRecord = z.infer<typeof PointRecord>

const R = '/api/rewards'

/** Ignored without the permission to see the platform's state. */
const platformFilter = { platform_state: z.enum(CODE_STATES).optional() }

export const rewards = {
  coupons: route('GET', `${R}/coupon_code/`, {
    summary: 'Your promo codes, or all promo codes for operators',
    access: 'user',
    exports: 'coupon',
    permission: 'rewards.view',
    query: listQuery({ sort: ['id'], filters: platformFilter }),
    reply: page(Coupon)
  }),
  createCoupon: route('POST', `${R}/coupon_code/`, {
    summary: 'Add a promo code',
    access: 'admin',
    permission: 'rewards.change',
    body: CouponForm,
    reply: Coupon
  }),
  updateCoupon: route('PUT', `${R}/coupon_code/:id/`, {
    summary: 'Edit a promo code',
    access: 'admin',
    permission: 'rewards.change',
    params: IdParams,
    body: CouponForm.extend(formVersion),
    reply: Coupon
  }),
  deleteCoupon: route('DELETE', `${R}/coupon_code/:id/`, {
    summary: 'Delete a promo code',
    access: 'admin',
    permission: 'rewards.change',
    params: IdParams,
    reply: Done
  }),
  giftCards: route('GET', `${R}/gift_card/`, {
    summary: 'Gift cards',
    access: 'admin',
    exports: 'gift_card',
    permission: 'rewards.view',
    query: listQuery({
      sort: ['id', 'mount', 'point'],
      filters: { is_exchanged: z.enum(['0', '1']).optional(), ...platformFilter }
    }),
    reply: page(GiftCard)
  }),
  createGiftCard: route('POST', `${R}/gift_card/`, {
    summary: 'Add a gift card',
    access: 'admin',
    permission: 'rewards.change',
    body: GiftCardForm,
    reply: GiftCard
  }),
  createGiftCards: route('POST', `${R}/gift_cards/`, {
    summary: 'Add several gift cards with generated codes',
    access: 'admin',
    permission: 'rewards.change',
    body: GiftCardsForm,
    reply: z.array(GiftCard)
  }),
  updateGiftCard: route('PUT', `${R}/gift_card/:id/`, {
    summary: 'Edit a gift card',
    access: 'admin',
    permission: 'rewards.change',
    params: IdParams,
    body: GiftCardForm.extend(formVersion),
    reply: GiftCard
  }),
  deleteGiftCard: route('DELETE', `${R}/gift_card/:id/`, {
    summary: 'Delete a gift card',
    access: 'admin',
    permission: 'rewards.change',
    params: IdParams,
    reply: Done
  }),
  exchangeList: route('GET', `${R}/gift_card/base-info/`, {
    summary: 'Rewards for coins',
    access: 'user',
    reply: z.array(z.object({ mount: Money, point: z.number() }))
  }),
  exchange: route('POST', `${R}/gift_card/exchange/`, {
    summary: 'Exchange coins for a gift card of this amount',
    access: 'user',
    idempotencyKey: 'required',
    body: z.object({ mount, point: points(message('enter_point')) }),
    reply: z.object({ code: z.string(), mount: Money, reward_points: z.number() })
  }),
  levelCodes: route('GET', `${R}/level_code/`, {
    summary: 'Level thresholds',
    access: 'user',
    exports: 'level_code',
    query: listQuery({ sort: ['level'], order: 'asc', filters: platformFilter }),
    reply: page(LevelCode)
  }),
  levelDiscount: route('GET', `${R}/level_discount/`, {
    summary: 'Your level discount at the checkout, if the platform has its code',
    access: 'user',
    reply: LevelDiscount.nullable()
  }),
  createLevelCode: route('POST', `${R}/level_code/`, {
    summary: 'Add a missing level (1 to 5)',
    access: 'admin',
    permission: 'rewards.change',
    body: LevelCodeForm.extend({ level: z.int().min(1).max(5) }),
    reply: LevelCode
  }),
  updateLevelCode: route('PUT', `${R}/level_code/:id/`, {
    summary: 'Edit a level',
    access: 'admin',
    permission: 'rewards.change',
    params: IdParams,
    body: LevelCodeForm.extend(formVersion),
    reply: LevelCode
  }),
  deleteLevelCode: route('DELETE', `${R}/level_code/:id/`, {
    summary: 'Delete a level',
    access: 'admin',
    permission: 'rewards.change',
    params: IdParams,
    reply: Done
  }),
  codeOnPlatform: route('POST', `${R}/codes/on_platform/`, {
    summary: 'Check a code on the platform, or create its discount there, in the background',
    access: 'admin',
    permission: 'rewards.change',
    body: CodeOrder,
    reply: z.object({ status: z.literal('queued') })
  }),
  pointRecords: route('GET', `${R}/point_record/`, {
    summary: 'Your points history',
    access: 'user',
    query: listQuery({ sort: ['id'] }),
    reply: page(PointRecord)
  }),
  userPoints: route('GET', '/api/users/u/:id/points/', {
    summary: "A user's points history",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    query: listQuery({ sort: ['id'], filters: { kind: z.enum(['level', 'coins']).optional() } }),
    reply: page(PointRecord)
  }),
  botWebhook: route('POST', '/api/users/bot_webhook', {
    summary: 'Report chat messages that earn coins; signed by the chat bot',
    access: 'public',
    body: z.object({
      event_id: text(message('needs_event_id'), 128),
      discord_id: text(message('needs_discord_id'), 64),
      channel_id: text(message('needs_channel_id'), 64),
      at: Instant(message('needs_time'))
    }),
    reply: z.object({ granted: z.number() })
  })
}
