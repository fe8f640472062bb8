import type { AddressFamily, OccupancyPicture, OfferedRule, Translations } from '@netlet/contract'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, eq, isNotNull, isNull, sql } from '../../infra/db/drizzle.ts'
import { translated } from '../../infra/translations.ts'
import { aclRules } from '../inventory/tables.ts'
import { blocksSold, isListed, type Offers, onSale } from './list-products.ts'
import { products, variants } from './tables.ts'
import { pictureOf } from '../inventory/index.ts'

const MOST = 100
/** How many sites of a rule are named. */
const SITES = 6

/** The rules that can be bought, those with the most products first. Administrators' notes are left out. */
export async function listOfferedRules(db: Executor, offers: Offers): Promise<OfferedRule[]> {
  const { rows } = await db.execute<Omit<OfferedRule, 'product_count'> & { translations: Translations }>(sql`
    select r.id as acl_id, r.name as acl_name, r.price::text as price, r.domains[1:${sql.raw(String(SITES))}] as domains,
      cardinality(r.domains) as domain_count, r.translations
    from ${aclRules} r where r.deleted_at is null and r.valid and r.platform_stock <> 'sold_out' order by r.id`)
  return rows
    .map(({ translations, ...rule }) => ({
      ...rule,
      product_count: offers.get(rule.acl_id)?.length ?? 0,
      ...translated({ translations })
    }))
    .toSorted((a, b) => b.product_count - a.product_count)
    .slice(0, MOST)
}

/** One query for each group, block size and family. */
async function readOffers(db: Executor): Promise<Offers> {
  const { rows } = await db.execute<{ rule: number; products: number[] }>(sql`
    with sold as (
      select b.* from (${blocksSold()}) b join ${products} on ${products.id} = b.product_id
      where ${products.deletedAt} is null and ${isListed()}
    ), stock as (
      select k.group_id, k.step, k.family, s.rule_id
      from (select distinct group_id, step, family from sold) k
      cross join lateral inventory.stock_by_rule(k.group_id, k.step, '{}', k.family) s
      where s.stock > 0
    )
    select stock.rule_id as rule, array_agg(distinct sold.product_id) as products
    from stock join sold using (group_id, step, family) group by 1`)
  return new Map(rows.map(row => [row.rule, row.products.map(Number)]))
}

/** Caches the offers for `ttl` milliseconds, because they need a count of the whole inventory and anyone may ask. */
export function cacheOffers(
  db: Executor,
  { ttl, now }: { ttl: number; now: Clock }
): { read: () => Promise<Offers>; forget: () => void } {
  let kept: { at: number; offers: Promise<Offers> } | undefined
  const forget = () => {
    kept = undefined
  }
  return {
    read: () => {
      const at = now().getTime()
      if (kept && kept.at > at - ttl) return kept.offers
      const offers = readOffers(db)
      kept = { at, offers }
      offers.catch(forget)
      return offers
    },
    forget
  }
}

/** Caches whole replies as bytes. */
export type ReplyCache = {
  /** The bytes for `key`, rebuilt when they are too old. Each key is built once at a time. */
  get(key: string, make: () => Promise<unknown>): Promise<Buffer>
  /** Empties the cache after a change that shoppers must see at once. */
  clear(): void
}

type Entry = { bytes: Buffer; at: number }

/**
 * Keeps recently requested replies for `ttl` ms, at most `maxEntries` and `maxBytes` of them. Clients choose the
 * queries, so both bounds matter.
 */
export function openReplyCache(options: { ttl: number; maxEntries: number; maxBytes: number; now: Clock }): ReplyCache {
  const { ttl, maxEntries, maxBytes, now } = options
  const entries = new LRUCache<string, Entry>({
    max: maxEntries,
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes / 4),
    sizeCalculation: entry => entry.bytes.length
  })
  const making = new Map<string, Promise<Buffer>>()
  let generation = 0

  return {
    async get(key, make) {
      const entry = entries.get(key)
      const age = entry ? now().getTime() - entry.at : ttl
      // A negative age means that the clock was set back.
      if (entry && age >= 0 && age < ttl) return entry.bytes
      const running = making.get(key)
      if (running) return running
      const startedIn = generation
      const made = make()
        .then(reply => {
          const built = Buffer.from(JSON.stringify(reply))
          // A reply read before the cache was cleared goes only to requests from before that.
          if (startedIn === generation) entries.set(key, { bytes: built, at: now().getTime() })
          return built
        })
        .finally(() => {
          if (making.get(key) === made) making.delete(key)
        })
      making.set(key, made)
      return made
    },
    clear() {
      generation++
      entries.clear()
      making.clear()
    }
  }
}

type Source = { groupId: number; family: AddressFamily }

/** The groups and families of a product's addresses, in a stable order; undefined if it is not sold. */
export async function rangesSoldBy(db: Executor, productId: number): Promise<Source[] | undefined> {
  const rows = await db
    .selectDistinct({ groupId: variants.serverGroupId, family: variants.addressFamily })
    .from(products)
    .leftJoin(
      variants,
      and(
        eq(variants.productId, products.id),
        variants.isActive,
        isNull(variants.deletedAt),
        isNotNull(variants.serverGroupId)
      )
    )
    .where(and(eq(products.id, productId), isNull(products.deletedAt), onSale()))
    .orderBy(asc(variants.serverGroupId), asc(variants.addressFamily))
  if (rows.length === 0) return undefined
  return rows.flatMap(({ groupId, family }) => (groupId === null || family === null ? [] : [{ groupId, family }]))
}

export const readOccupancy = async (db: Executor, sources: readonly Source[]): Promise<OccupancyPicture> => ({
  cells: await pictureOf(db, sources)
})
