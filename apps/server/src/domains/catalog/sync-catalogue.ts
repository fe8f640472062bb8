import { refuse, type CatalogPreview } from '@netlet/contract'
import { isNull } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import type { ShopifyProduct } from '../../integrations/shopify/index.ts'
import { nameRuleProducts, rulesOnPlatform } from '../inventory/index.ts'
import { applyProductUpdate, withdrawProduct } from './apply-product-event.ts'
import { planCollections } from './plan-collections.ts'
import { type SyncCounts, writeSync } from './plan-sync.ts'
import { planTags, ruleHolders } from './plan-tags.ts'
import { presentCatalogue, countAll } from './present-sync.ts'
import { asEvent } from './read-platform.ts'
import type { PlatformSource } from './read-source.ts'
import { difference, takeSnapshot } from './snapshot.ts'
import { applyCollections, applyTags, lockGroupings, productOfVariant } from './sync-groupings.ts'
import { products, type Touched } from './tables.ts'

/** Reports how many of the products are done. */
export type Tell = (done: number, total: number) => Promise<void>

/**
 * What `takeCatalogue` would do. It makes the changes in the unit, which the caller rolls back, so that the preview
 * equals the sync.
 */
export async function planCatalogue(
  unit: Unit,
  source: PlatformSource,
  tell: Tell
): Promise<{ shown: CatalogPreview; version: string }> {
  const touched = await apply(unit, source, tell)
  const { sold } = source
  const [holders, added] = [await ruleHolders(unit.tx, sold), await offered(unit.tx, sold)]
  return { shown: presentCatalogue(touched, { holders, offered: added, sold }), version: planVersion(touched) }
}

/**
 * Takes over products, prices, collections and tags, all or nothing. Refuses 'stale' if the changes are not those of
 * the plan with this version.
 */
export async function takeCatalogue(
  unit: Unit,
  source: PlatformSource,
  { version, tell }: { version: string; tell: Tell }
): Promise<Result<SyncCounts>> {
  const touched = await apply(unit, source, tell)
  if (planVersion(touched) !== version) return refuse('stale')
  const counts = countAll(touched, await ruleHolders(unit.tx, source.sold))
  await writeSync(unit, { what: 'catalogue', counts, touched })
  unit.audit('product.sync', 'all', { after: counts })
  for (const resource of ['collection', 'tag', 'acl_rule'] as const) unit.publish(resource)
  return ok(counts)
}

const planVersion = (touched: Touched[]): string => versionOf({ touched })

/** @returns what it changed */
async function apply(unit: Unit, { sold, collections, tags }: PlatformSource, tell: Tell): Promise<Touched[]> {
  const { tx } = unit
  await lockGroupings(tx)
  const before = await takeSnapshot(tx)
  const ours = await platformIds(tx)
  const ofRules = new Set((await rulesOnPlatform(tx)).map(rule => rule.platformVariantId))
  for (const [at, product] of sold.entries()) {
    await tell(at, sold.length)
    if (ours.has(product.id) || product.variants.some(({ id }) => ofRules.has(id)))
      await applyProductUpdate(unit, asEvent(product))
  }
  await nameRuleProducts(unit, productOfVariant(sold))
  const there = new Set(sold.map(product => product.id))
  for (const id of ours) if (!there.has(id)) await withdrawProduct(unit, { id })
  await applyCollections(tx, await planCollections(tx, { theirs: collections, sold }), unit.now)
  await applyTags(tx, await planTags(tx, { theirs: tags, sold }), unit.now)
  return difference(before, await takeSnapshot(tx))
}

async function platformIds(db: Executor): Promise<Set<string>> {
  const rows = await db.select({ id: products.platformId }).from(products).where(isNull(products.deletedAt))
  return new Set(rows.map(row => row.id))
}

/** The platform's products that could be added. A sync cannot add them: plans need an administrator's choices. */
async function offered(db: Executor, sold: readonly ShopifyProduct[]): Promise<ShopifyProduct[]> {
  const ours = await platformIds(db)
  const holders = new Set((await ruleHolders(db, sold)).map(product => product.id))
  return sold.filter(({ id, forSale }) => forSale && !ours.has(id) && !holders.has(id))
}
