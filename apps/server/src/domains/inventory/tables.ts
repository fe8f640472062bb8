import { PlatformStock, type OverlapWinner } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { boolean, check, customType, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { cidr, createdAt, id, inet, instant, money, oneOf, ref, translations } from '../../infra/db/columns.ts'

/** An access rule: a named, priced list of domains, sold as an add-on (the specification's ACL rule). */
export const aclRules = pgTable(
  'acl_rules',
  {
    /** integer, not bigint, because rule ids are in int[] columns next to the bitmaps. */
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    name: text().notNull(),
    description: text().notNull().default(''),
    translations: translations(),
    price: money().notNull(),
    platformVariantId: text().notNull(),
    /** An older rule is sold as the same variant. New ones are refused. */
    sharesVariant: boolean().notNull().default(false),
    /** The platform's product of the variant; null until the platform reports it. */
    platformProductId: text(),
    /** The platform's time of what was last taken over. Older reports are ignored. */
    platformUpdatedAt: instant(),
    /** The platform still sells it: its product is for sale and has the variant. */
    valid: boolean().notNull().default(true),
    /** Invalid only because its product is not in the platform's Online Store. */
    unpublished: boolean().notNull().default(false),
    /** Invalid, because its product is sold with a selling plan only, which checkout links cannot buy. */
    subscriptionOnly: boolean().notNull().default(false),
    /** As last read. A rule that is sold out stays valid, since who has paid for the last one gets it. */
    platformStock: text().$type<PlatformStock>().notNull().default('none'),
    /** As last read: the checkout asks for an address and a shipping rate. */
    shipped: boolean().notNull().default(false),
    /** As an administrator typed it: one domain a line, comments allowed. */
    aclValue: text().notNull(),
    /** The same, parsed: lower case, punycode, distinct, ascending. The agents' deny lists are made of these. */
    domains: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    createdAt: createdAt(),
    deletedAt: instant()
  },
  t => [
    uniqueIndex('acl_rules_name_key')
      .on(sql`lower(${t.name})`)
      .where(sql`${t.deletedAt} is null`),
    uniqueIndex('acl_rules_variant_key')
      .on(t.platformVariantId)
      .where(sql`${t.deletedAt} is null and not ${t.sharesVariant}`),
    check('acl_rules_price', sql`${t.price} >= 0`),
    check('acl_rules_platform_stock', oneOf(t.platformStock, PlatformStock.options))
  ]
)

/** Products that the platform deleted. Their ids never return, so later reports about them are old. */
export const platformDeletions = pgTable('platform_deletions', {
  platformProductId: text().primaryKey(),
  createdAt: createdAt()
})

/**
 * A domain of one live rule below a domain of another: which of the two has it. Null is undecided, which works as if
 * the narrow rule had won. Every change of the rules' domains updates it.
 */
export const ruleOverlaps = pgTable(
  'rule_overlaps',
  {
    narrowRuleId: integer()
      .notNull()
      .references(() => aclRules.id, { onDelete: 'cascade' }),
    broadRuleId: integer()
      .notNull()
      .references(() => aclRules.id, { onDelete: 'cascade' }),
    /** Of the narrow rule. */
    domain: text().notNull(),
    winner: text().$type<OverlapWinner>()
  },
  t => [
    primaryKey({ columns: [t.narrowRuleId, t.broadRuleId, t.domain] }),
    index('rule_overlaps_broad').on(t.broadRuleId),
    check('rule_overlaps_winner', sql`${t.winner} in ('narrow', 'broad')`),
    check('rule_overlaps_two', sql`${t.narrowRuleId} <> ${t.broadRuleId}`)
  ]
)

/**
 * Derived from the domains and `rule_overlaps`: rules with a site in common, each pair in both directions. The database
 * never leases an address under two of them to two leases.
 */
export const ruleIntersections = pgTable(
  'rule_intersections',
  {
    ruleId: integer()
      .notNull()
      .references(() => aclRules.id, { onDelete: 'cascade' }),
    otherId: integer()
      .notNull()
      .references(() => aclRules.id, { onDelete: 'cascade' })
  },
  t => [
    primaryKey({ columns: [t.ruleId, t.otherId] }),
    index('rule_intersections_other').on(t.otherId),
    check('rule_intersections_two', sql`${t.ruleId} <> ${t.otherId}`)
  ]
)

export const aclGroups = pgTable(
  'acl_groups',
  { id: id(), name: text().notNull(), description: text().notNull().default(''), createdAt: createdAt() },
  t => [uniqueIndex('acl_groups_name_key').on(sql`lower(${t.name})`)]
)

export const aclGroupRules = pgTable(
  'acl_group_rules',
  {
    groupId: ref()
      .notNull()
      .references(() => aclGroups.id, { onDelete: 'cascade' }),
    ruleId: integer()
      .notNull()
      .references(() => aclRules.id, { onDelete: 'cascade' })
  },
  t => [primaryKey({ columns: [t.groupId, t.ruleId] }), index('acl_group_rules_rule').on(t.ruleId)]
)

/** An address range. Without a server it is out of stock and kept for its history. */
export const cidrs = pgTable(
  'cidrs',
  {
    id: id(),
    cidr: cidr().notNull(),
    /** References `servers` (migrations/0000_initial.sql). Not declared here, because the domain `servers` is above the inventory. */
    serverId: ref(),
    /** Rules that this range can never be sold with, ascending. */
    excludedRules: integer()
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** How many addresses of the range have ever been delivered. */
    deliveryCount: integer().notNull().default(0),
    createdAt: createdAt(),
    deletedAt: instant()
  },
  t => [index('cidrs_server').on(t.serverId), index('cidrs_delivery').on(t.deliveryCount, t.id)]
)

/** A line of an order that holds addresses: reserved, then active, then released. */
export const leases = pgTable(
  'leases',
  {
    id: id(),
    /** References `orders` (migrations/0000_initial.sql). Not declared here, because orders are above the inventory. */
    orderId: ref().notNull(),
    groupId: ref().notNull(),
    step: integer().notNull(),
    rules: integer().array().notNull(),
    blocks: integer().notNull(),
    state: text().$type<'reserved' | 'active' | 'released'>().notNull().default('reserved'),
    createdAt: createdAt(),
    /** Null for a reservation that was never paid. */
    activatedAt: instant(),
    releasedAt: instant(),
    /** Other addresses replace these. They are given back once those work and no agent serves these. */
    replaced: boolean().notNull().default(false)
  },
  t => [
    index('leases_order').on(t.orderId),
    // For figures of the moment. The history is many times as long.
    index('leases_live')
      .on(t.state, t.id)
      .where(sql`${t.state} <> 'released'`),
    check('leases_state', sql`${t.state} in ('reserved', 'active', 'released')`),
    check('leases_rules', sql`cardinality(${t.rules}) > 0`),
    check('leases_released', sql`(${t.state} = 'released') = (${t.releasedAt} is not null)`)
  ]
)

const varbit = customType<{ data: string }>({ dataType: () => 'varbit' })

/** A part of a range, at most 4,096 units (IPv4 addresses or IPv6 /64s). Allocation and locks go by id, ascending. */
export const chunks = pgTable(
  'chunks',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    cidrId: ref()
      .notNull()
      .references(() => cidrs.id),
    /** Copied from the range, so that counting the stock reads one table less. Null: out of stock. */
    serverId: ref(),
    base: inet().notNull(),
    size: integer().notNull(),
    excludedRules: integer()
      .array()
      .notNull()
      .default(sql`'{}'`)
  },
  t => [
    index('chunks_server').on(t.serverId, t.id),
    index('chunks_cidr').on(t.cidrId),
    check('chunks_size', sql`${t.size} between 1 and 4096 and (${t.size} & (${t.size} - 1)) = 0`)
  ]
)

/**
 * The units of a chunk in use under a rule, derived from the live lease blocks by triggers. The migration adds the
 * generated columns `free` (how many aligned blocks of 1, 8, 16, 32, 64, 128 and 256 units are free) and `eighths` (the
 * same bits at an eighth of the length).
 */
export const ruleUsage = pgTable(
  'rule_usage',
  {
    chunkId: integer()
      .notNull()
      .references(() => chunks.id),
    ruleId: integer()
      .notNull()
      .references(() => aclRules.id),
    bits: varbit().notNull()
  },
  t => [primaryKey({ columns: [t.chunkId, t.ruleId] })]
)

/**
 * The source of truth, with its history: which units a lease of an order held, under which rules, until when. The trigger that
 * guards the rows also checks lease and chunk. Foreign keys would lock the chunk's row for each block, so that
 * unrelated orders wait for each other.
 */
export const leaseBlocks = pgTable(
  'lease_blocks',
  {
    id: id(),
    leaseId: ref().notNull(),
    chunkId: integer().notNull(),
    /** First unit within the chunk, and how many. */
    start: integer().notNull(),
    length: integer().notNull(),
    rules: integer().array().notNull(),
    /**
     * Both come from the database's clock, because the clocks of processes differ. They are not the start of the
     * transaction: one that began earlier may wait for another, and two orders would have had an address at once.
     */
    leasedAt: instant().notNull(),
    releasedAt: instant(),
    /** Released, but not in stock before this time (the setting `quarantine_hours`). Null: it does not rest. */
    restsUntil: instant()
  },
  t => [
    index('lease_blocks_lease').on(t.leaseId),
    index('lease_blocks_place').on(t.chunkId, t.start),
    // The history of a range, newest first.
    index('lease_blocks_history').on(t.chunkId, t.id),
    index('lease_blocks_resting')
      .on(t.restsUntil)
      .where(sql`${t.restsUntil} is not null`),
    check('lease_blocks_rests', sql`${t.restsUntil} is null or ${t.releasedAt} is not null`),
    check('lease_blocks_aligned', sql`${t.start} % ${t.length} = 0`)
  ]
)
