import { sql } from '../../infra/db/drizzle.ts'
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex
} from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, money, oneOf, points, ref } from '../../infra/db/columns.ts'
import {
  CODE_STATES,
  DISCOUNT_TYPES,
  POINT_REASONS,
  type CodeDifference,
  type Params,
  type PointReason
} from '@netlet/contract'
import { users } from '../accounts/tables.ts'

/** The last known state of the row's code on the platform; see `CODE_STATES` of the contract. */
const onPlatform = () => ({
  platformState: text({ enum: CODE_STATES }).notNull().default('unknown'),
  platformDiffers: text()
    .array()
    .$type<CodeDifference[]>()
    .notNull()
    .default(sql`'{}'`),
  platformProblem: text(),
  platformCheckedAt: instant()
})

export const coupons = pgTable(
  'coupons',
  {
    id: id(),
    holderId: ref()
      .notNull()
      .references(() => users.id),
    code: text().notNull(),
    /** 1 discount, 2 gift. */
    codeType: integer().notNull(),
    discount: money().notNull(),
    discountType: text({ enum: DISCOUNT_TYPES }).notNull().default('amount'),
    isUsed: boolean().notNull().default(false),
    /** The platform's orders that use it. It is free again if all were refunded before their delivery. */
    usedBy: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** Refunded orders that used it. They use it again if their money comes back. */
    freedBy: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    /**
     * Uses that the platform counts under this code beyond those of both lists: from before an administrator's
     * decision. Negative if the code was renamed after the uses in the lists.
     */
    countedBefore: integer().notNull().default(0),
    createdAt: createdAt(),
    ...onPlatform()
  },
  t => [
    uniqueIndex('coupons_code_key').on(sql`lower(${t.code})`),
    index('coupons_holder').on(t.holderId, t.id),
    index('coupons_used_by').using('gin', t.usedBy),
    index('coupons_freed_by').using('gin', t.freedBy),
    index('coupons_search').using('gin', sql`${t.code} gin_trgm_ops`),
    index('coupons_platform').on(t.platformState, t.id),
    check('coupons_discount_type', oneOf(t.discountType, DISCOUNT_TYPES)),
    check('coupons_platform_state', oneOf(t.platformState, CODE_STATES)),
    check('coupons_type', sql`${t.codeType} in (1, 2)`),
    check('coupons_discount', sql`${t.discount} >= 0`)
  ]
)

export const giftCards = pgTable(
  'gift_cards',
  {
    id: id(),
    /** Dollars. */
    mount: money().notNull(),
    /** Its price in coins. */
    point: points().notNull(),
    code: text().notNull(),
    isExchanged: boolean().notNull().default(false),
    exchangedBy: ref().references(() => users.id),
    exchangedAt: instant(),
    /** The Idempotency-Key of its exchange; null if the exchange is older than this column. */
    exchangeKey: text(),
    createdAt: createdAt(),
    ...onPlatform()
  },
  t => [
    uniqueIndex('gift_cards_code_key').on(sql`lower(${t.code})`),
    index('gift_cards_search').using('gin', sql`${t.code} gin_trgm_ops`),
    index('gift_cards_exchanged').on(t.isExchanged, t.id),
    uniqueIndex('gift_cards_exchange_key').on(t.exchangedBy, t.exchangeKey),
    index('gift_cards_mount').on(t.mount, t.id),
    index('gift_cards_point').on(t.point, t.id),
    index('gift_cards_free')
      .on(t.mount, t.point, t.id)
      .where(sql`not ${t.isExchanged}`),
    index('gift_cards_platform').on(t.platformState, t.id),
    check('gift_cards_platform_state', oneOf(t.platformState, CODE_STATES)),
    check('gift_cards_values', sql`${t.mount} > 0 and ${t.point} >= 0`),
    check('gift_cards_exchanged', sql`${t.isExchanged} = (${t.exchangedBy} is not null)`)
  ]
)

/** Five thresholds of level points, each with the discount code of its level. */
export const levelCodes = pgTable(
  'level_codes',
  {
    id: id(),
    level: integer().notNull().unique(),
    discount: money().notNull(),
    discountType: text({ enum: DISCOUNT_TYPES }).notNull().default('amount'),
    code: text().notNull().default(''),
    point: points().notNull(),
    ...onPlatform()
  },
  t => [
    check('level_codes_level', sql`${t.level} between 1 and 5`),
    check('level_codes_discount_type', oneOf(t.discountType, DISCOUNT_TYPES)),
    check('level_codes_platform_state', oneOf(t.platformState, CODE_STATES)),
    check('level_codes_point', sql`${t.point} >= 0`)
  ]
)

/** Why points changed. The sentence is made for display from the code and its parameters. */
const REASON_CODES = Object.keys(POINT_REASONS) as [PointReason, ...PointReason[]]

/** Every change of points or coins with its reason. Unique by `cause`, so it happens once. */
export const pointRecords = pgTable(
  'point_records',
  {
    id: id(),
    userId: ref()
      .notNull()
      .references(() => users.id),
    kind: text({ enum: ['level', 'coins'] }).notNull(),
    point: points().notNull(),
    reasonCode: text({ enum: REASON_CODES }).notNull(),
    reasonParams: jsonb().$type<Params>(),
    cause: text().notNull().unique(),
    /** The platform's order that earned it, for refunds. */
    payment: text(),
    /** Until when the coins cannot be spent. Null: they can be spent at once. */
    maturesAt: instant(),
    /** The multiplier of the payment's amount; null: not earned by a payment, or an old record. */
    rate: doublePrecision(),
    /**
     * Restored level points: their number before decays. Coins of a payment: in millionths, while `point` has the whole
     * coins that they completed. Null: the same as `point`.
     */
    nominal: points(),
    /** How much of `nominal` was taken back after refunds. */
    takenBack: points().notNull().default(0),
    /** When all of it had been taken back; null before. */
    takenBackAt: instant(),
    createdAt: createdAt()
  },
  t => [
    // Contains points and kind, so that a history counts its rows without reading them.
    index('point_records_user').on(t.userId, t.id, t.point, t.kind),
    index('point_records_payment')
      .on(t.payment)
      .where(sql`${t.payment} is not null`),
    index('point_records_pending')
      .on(t.userId, t.maturesAt)
      .where(sql`${t.maturesAt} is not null`),
    check(
      'point_records_taken_back',
      sql`${t.takenBack} between 0 and greatest(coalesce(${t.nominal}, ${t.point}), 0)`
    ),
    check('point_records_millionths', sql`${t.reasonCode} <> 'invited_payment' or ${t.nominal} is not null`),
    check('point_records_kind', sql`${t.kind} in ('level', 'coins')`),
    check(
      'point_records_reason',
      sql`${t.reasonCode} in (${sql.raw(REASON_CODES.map(code => `'${code}'`).join(', '))})`
    )
  ]
)

/** The progress of a month's decay, which makes it happen once in spite of restarts. */
export const levelDecays = pgTable('level_decays', {
  /** '2026-11' */
  month: text().primaryKey(),
  /** Users up to this id are done. */
  doneUpTo: ref().notNull().default(0),
  /** Users created later keep their points. */
  startedAt: createdAt(),
  finishedAt: instant()
})

/** Chat messages that have been counted. */
export const chatEvents = pgTable('chat_events', { eventId: text().primaryKey(), receivedAt: createdAt() }, t => [
  index('chat_events_received').on(t.receivedAt)
])

/** Coins for chat messages by user and day, for the daily limit. */
export const chatPoints = pgTable(
  'chat_points',
  { userId: ref().notNull(), day: text().notNull(), granted: bigint({ mode: 'number' }).notNull().default(0) },
  t => [uniqueIndex('chat_points_key').on(t.userId, t.day)]
)

/** The same by chat account, for any user. Hashed, because it outlasts the user. */
export const chatAccountPoints = pgTable(
  'chat_account_points',
  { account: bytes().notNull(), day: text().notNull(), granted: bigint({ mode: 'number' }).notNull().default(0) },
  t => [primaryKey({ columns: [t.account, t.day] })]
)
