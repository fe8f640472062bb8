import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, money, points, ref } from '../../infra/db/columns.ts'
import { users } from '../accounts/tables.ts'

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
    isUsed: boolean().notNull().default(false),
    createdAt: createdAt()
  },
  t => [
    uniqueIndex('coupons_code_key').on(sql`lower(${t.code})`),
    index('coupons_holder').on(t.holderId, t.id),
    index('coupons_search').using('gin', sql`${t.code} gin_trgm_ops`),
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
    /** Coins that it costs. */
    point: points().notNull(),
    code: text().notNull(),
    isExchanged: boolean().notNull().default(false),
    exchangedBy: ref().references(() => users.id),
    exchangedAt: instant(),
    createdAt: createdAt()
  },
  t => [
    uniqueIndex('gift_cards_code_key').on(sql`lower(${t.code})`),
    index('gift_cards_search').using('gin', sql`${t.code} gin_trgm_ops`),
    index('gift_cards_exchanged').on(t.isExchanged, t.id),
    index('gift_cards_mount').on(t.mount, t.id),
    index('gift_cards_point').on(t.point, t.id),
    index('gift_cards_free')
      .on(t.mount, t.point, t.id)
      .where(sql`not ${t.isExchanged}`),
    check('gift_cards_values', sql`${t.mount} > 0 and ${t.point} >= 0`),
    check('gift_cards_exchanged', sql`${t.isExchanged} = (${t.exchangedBy} is not null)`)
  ]
)

/** Five thresholds of level points, with the discount code that a user of that level gets at checkout. */
export const levelCodes = pgTable(
  'level_codes',
  {
    id: id(),
    level: integer().notNull().unique(),
    discount: money().notNull(),
    code: text().notNull().default(''),
    point: points().notNull()
  },
  t => [check('level_codes_level', sql`${t.level} between 1 and 5`), check('level_codes_point', sql`${t.point} >= 0`)]
)

/** Every change of points or coins, with its reason; `cause` makes it happen once. */
export const pointRecords = pgTable(
  'point_records',
  {
    id: id(),
    userId: ref()
      .notNull()
      .references(() => users.id),
    kind: text().$type<'level' | 'coins'>().notNull(),
    point: points().notNull(),
    reason: text().notNull(),
    cause: text().notNull().unique(),
    createdAt: createdAt()
  },
  t => [
    index('point_records_user').on(t.userId, t.id),
    check('point_records_kind', sql`${t.kind} in ('level', 'coins')`)
  ]
)

/** How far a month's decay of level points has come: it happens once, whatever restarts happen. */
export const levelDecays = pgTable('level_decays', {
  /** '2026-11' */
  month: text().primaryKey(),
  /** Users up to this id have had it. */
  doneUpTo: ref().notNull().default(0),
  /** Only users who were there on the day have it. */
  startedAt: createdAt(),
  finishedAt: instant()
})
