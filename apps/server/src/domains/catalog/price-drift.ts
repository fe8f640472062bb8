import { refuse, type PriceDrift, type ShownPrices } from '@netlet/contract'
import { and, asc, eq, isNull, notInArray, or, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM, type Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { saveCheck, openPlatform, platformRefusal, recordCheck } from '../commerce/index.ts'
import { type PlatformPrice, rulesOnPlatform, setRulePrice } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { withPriceLock, forgetDrifts, platformPriceOf, writePrices } from './write-platform-prices.ts'
import { priceDrifts, products, variants } from './tables.ts'

export type Comparison = {
  /** The platform's ids of our products whose price, status or variants differ there. */
  changed: string[]
  /** For each rule, by the platform's variant id; undefined if the platform does not have it. */
  rules: Map<string, PlatformPrice | undefined>
  /** How many of the products and rules on sale here the platform does not know. */
  gone: Record<'products' | 'rules', { gone: number; of: number }>
}

/** A difference counts only while it exists: our price may have changed since. */
const stillDiffers = or(
  sql`exists (select 1 from ${variants} v where v.id = ${priceDrifts.variantId} and v.deleted_at is null and v.price <> ${priceDrifts.platformPrice})`,
  sql`exists (select 1 from ${aclRules} r where r.id = ${priceDrifts.ruleId} and r.deleted_at is null and r.price <> ${priceDrifts.platformPrice})`
)

/** Prices that differ from the platform's. */
export const priceDriftList = defineList<ListInput<'id'>, PriceDrift>({
  name: 'price_drifts',
  table: priceDrifts,
  id: priceDrifts.id,
  sort: { id: priceDrifts.id },
  match: () => ({ where: [stillDiffers] }),
  load: (db, ids) => selectDrifts(db, ids)
})

export const countPriceDrifts = (db: Executor): Promise<number> => db.$count(priceDrifts, stillDiffers)

async function selectDrifts(db: Executor, ids: number[]): Promise<PriceDrift[]> {
  const rows = await db
    .select({ drift: priceDrifts, variant: variants, product: products, rule: aclRules })
    .from(priceDrifts)
    .leftJoin(variants, eq(variants.id, priceDrifts.variantId))
    .leftJoin(products, eq(products.id, variants.productId))
    .leftJoin(aclRules, eq(aclRules.id, priceDrifts.ruleId))
    .where(among(priceDrifts.id, ids))
  return rows.map(({ drift, variant, product, rule }) => ({
    id: drift.id,
    kind: rule ? 'rule' : 'variant',
    target_id: rule?.id ?? product?.id ?? 0,
    name: rule?.name ?? `${product?.name ?? ''}: ${variant?.name ?? ''}`,
    shopify_variant_id: rule?.platformVariantId ?? variant?.platformId ?? '',
    price: rule?.price ?? variant?.price ?? '0.00',
    platform_price: drift.platformPrice,
    since: iso(drift.since)
  }))
}

/**
 * Reads all prices from the platform and records those that differ; changes nothing else. Undefined if no platform is
 * set up. A failure of the platform is only noted for the health page.
 */
export async function comparePrices(ctx: AppContext): Promise<Comparison | undefined> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return undefined
  const ours = await readOurs(ctx.db)
  const rules = await rulesOnPlatform(ctx.db)
  const ids = [...ours.map(one => one.platformId), ...rules.map(rule => rule.platformVariantId)]
  const read = await platform.data.variants([...new Set(ids)])
  if (!read.ok) {
    await saveCheck(ctx, 'prices', { error: read.message })
    return undefined
  }
  const seen = new Map([...read.value].map(([id, variant]) => [id, platformPriceOf(variant)]))
  const found = [
    ...ours.flatMap(one => differing(seen.get(one.platformId), one.price, { variantId: one.id })),
    ...rules.flatMap(rule => differing(seen.get(rule.platformVariantId), rule.price, { ruleId: rule.id }))
  ]
  await command(ctx, SYSTEM, async unit => {
    const kept: number[] = []
    for (const drift of found) {
      const target = 'variantId' in drift ? priceDrifts.variantId : priceDrifts.ruleId
      const [row] = await unit.tx
        .insert(priceDrifts)
        .values({ ...drift, since: unit.now })
        .onConflictDoUpdate({ target, set: { platformPrice: drift.platformPrice } })
        .returning({ id: priceDrifts.id })
      if (row) kept.push(row.id)
    }
    await unit.tx.delete(priceDrifts).where(kept.length > 0 ? notInArray(priceDrifts.id, kept) : undefined)
    await recordCheck(unit, 'prices', { read: seen.size, differ: found.length })
  })
  const changed = ours.filter(one => {
    const there = seen.get(one.platformId)
    // A product that was withdrawn earlier and is still missing has not changed.
    return there
      ? there.price !== one.price ||
          there.forSale !== one.valid ||
          there.unlisted !== one.unlisted ||
          there.stock !== one.stock ||
          there.shipped !== one.shipped ||
          (there.subscriptionOnly ?? one.subscriptionOnly) !== one.subscriptionOnly
      : one.valid || one.unpublished || one.subscriptionOnly
  })
  const [sold, soldRules] = [ours.filter(one => one.valid), rules.filter(rule => rule.valid)]
  const there = new Set(sold.filter(one => seen.has(one.platformId)).map(one => one.platformProductId))
  const all = new Set(sold.map(one => one.platformProductId))
  return {
    gone: {
      products: { gone: all.size - there.size, of: all.size },
      rules: { gone: soldRules.filter(rule => !seen.has(rule.platformVariantId)).length, of: soldRules.length }
    },
    changed: [...new Set(changed.map(one => one.platformProductId))],
    rules: new Map(rules.map(rule => [rule.platformVariantId, seen.get(rule.platformVariantId)]))
  }
}

function differing<T extends { variantId: number } | { ruleId: number }>(
  there: PlatformPrice | undefined,
  price: string,
  of: T
): (T & { platformPrice: string })[] {
  return there && there.price !== price ? [{ ...of, platformPrice: there.price }] : []
}

const readOurs = (db: Executor) =>
  db
    .select({
      id: variants.id,
      platformId: variants.platformId,
      price: variants.price,
      platformProductId: products.platformId,
      valid: products.valid,
      unlisted: products.unlisted,
      unpublished: products.unpublished,
      subscriptionOnly: products.subscriptionOnly,
      stock: variants.platformStock,
      shipped: variants.shipped
    })
    .from(variants)
    .innerJoin(products, eq(products.id, variants.productId))
    .where(and(isNull(variants.deletedAt), isNull(products.deletedAt)))
    .orderBy(asc(variants.id))

/** Takes over the platform's current price. @param shown if given, the prices must still be these */
export async function usePlatformPrice(
  ctx: AppContext,
  by: Actor,
  id: number,
  shown: ShownPrices = {}
): Promise<Result<null>> {
  const found = await readDrift(ctx, id, shown)
  if (!found.ok) return found
  const { drift, there } = found.data
  return command(ctx, by, async unit => {
    const claimed = await removeDrift(unit, drift)
    if (!claimed.ok) return claimed
    if (drift.kind === 'rule') await setRulePrice(unit, drift.target_id, there.price)
    else {
      await unit.tx
        .update(variants)
        .set({ price: there.price })
        .where(and(eq(variants.platformId, drift.shopify_variant_id), isNull(variants.deletedAt)))
      const about = { variant: drift.name }
      unit.audit('product.take_price', drift.target_id, {
        before: { ...about, price: drift.price },
        after: { ...about, price: there.price }
      })
    }
    await forgetDrifts(unit, [drift.shopify_variant_id])
    return done
  })
}

/** Writes our price to the platform. @param shown if given, the prices must still be these */
export async function writePlatformPrice(
  ctx: AppContext,
  by: Actor,
  id: number,
  shown: ShownPrices = {}
): Promise<Result<null>> {
  return withPriceLock(ctx, () => writeOurs(ctx, by, id, shown))
}

async function writeOurs(ctx: AppContext, by: Actor, id: number, shown: ShownPrices): Promise<Result<null>> {
  const found = await readDrift(ctx, id, shown)
  if (!found.ok) return found
  const { drift, there } = found.data
  // Claimed first, so that a concurrent decision finds nothing to decide. If this process dies before it writes to the
  // platform, the next comparison finds the difference again.
  const claimed = await command(ctx, by, unit => removeDrift(unit, drift))
  if (!claimed.ok) return claimed
  const prices = new Map([[drift.shopify_variant_id, drift.price]])
  const written = await writePrices(ctx, there.productId, prices, () =>
    command(ctx, by, async unit => {
      unit.audit(drift.kind === 'rule' ? 'acl_rule.write_price' : 'product.write_price', drift.target_id, {
        before: { price: there.price },
        after: { price: drift.price }
      })
      return done
    })
  )
  if (!written.ok)
    await command(ctx, by, async unit => {
      await unit.tx.insert(priceDrifts).overridingSystemValue().values(claimed.data).onConflictDoNothing()
      return done
    })
  return written
}

type DriftRow = typeof priceDrifts.$inferSelect

/** Removes the difference for one decision, if it still exists and our price is still the one that was read. */
async function removeDrift(unit: Unit, drift: PriceDrift): Promise<Result<DriftRow>> {
  const [row] = await unit.tx.select().from(priceDrifts).where(eq(priceDrifts.id, drift.id)).for('update')
  if (!row) return refuse('price_drift_gone')
  // Locked after the difference, because a deletion of a variant does not wait for one.
  const [variant] = row.variantId
    ? await unit.tx.select().from(variants).where(eq(variants.id, row.variantId)).for('update')
    : []
  const ours = variant ?? (await rulesOnPlatform(unit.tx)).find(rule => rule.id === row.ruleId)
  if (!ours || variant?.deletedAt) return refuse('price_drift_gone')
  if (ours.price !== drift.price) return refuse('stale')
  await unit.tx.delete(priceDrifts).where(eq(priceDrifts.id, row.id))
  return ok(row)
}

/** The difference, and the platform's current price, which may have changed since the comparison. */
async function readDrift(
  ctx: AppContext,
  id: number,
  shown: ShownPrices
): Promise<Result<{ drift: PriceDrift; there: PlatformPrice }>> {
  const [drift] = await selectDrifts(ctx.db, [id])
  if (!drift) return refuse('price_drift_gone')
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const read = await platform.data.variants([drift.shopify_variant_id])
  if (!read.ok) return platformRefusal(read)
  const found = read.value.get(drift.shopify_variant_id)
  if (!found) return refuse('unknown_platform_variant')
  const there = platformPriceOf(found)
  if (isOther(shown.price, drift.price) || isOther(shown.platform_price, there.price)) {
    // Saved, so that the screen shows the current prices when it reloads.
    await command(ctx, SYSTEM, unit =>
      unit.tx.update(priceDrifts).set({ platformPrice: there.price }).where(eq(priceDrifts.id, id))
    )
    return refuse('stale')
  }
  return ok({ drift, there })
}

const isOther = (shown: string | undefined, now: string): boolean => shown !== undefined && shown !== now
