import { refuse, type CatalogPreview } from '@netlet/contract'
import { isNull } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command, rehearse, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import type { ShopifyCollection, ShopifyProduct } from '../../integrations/shopify/index.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { nameRuleProducts, rulesOnPlatform } from '../inventory/index.ts'
import { applyProductUpdate, withdrawProduct } from './apply-product-event.ts'
import { planCollections } from './plan-collections.ts'
import type { SyncCounts } from './plan-sync.ts'
import { planTags, ruleHolders } from './plan-tags.ts'
import { presentCatalogue, countAll } from './present-sync.ts'
import { asEvent } from './read-platform.ts'
import { writeSync } from './record-sync.ts'
import { productsOnPlatform } from './selling.ts'
import { difference, takeSnapshot } from './snapshot.ts'
import { applyCollections, applyTags, lockGroupings, productOfVariant } from './sync-groupings.ts'
import { products, type Touched } from './tables.ts'

/** What the platform has, read before anything is written. */
type Source = { sold: ShopifyProduct[]; collections: ShopifyCollection[]; tags: string[] }

/**
 * What `syncCatalogue` would do now: it is done and undone in one transaction, so that the preview is what the sync
 * does. Nothing stays.
 */
export async function previewCatalogue(ctx: AppContext, by: Actor): Promise<Result<CatalogPreview>> {
  const source = await readSource(ctx)
  if (!source.ok) return source
  return rehearse(ctx, by, {}, async unit => {
    const touched = await apply(unit, source.data)
    const { sold } = source.data
    return ok(
      presentCatalogue(touched, {
        holders: await ruleHolders(unit.tx, sold),
        offered: await offered(unit.tx, sold),
        sold,
        version: planVersion(touched)
      })
    )
  })
}

/**
 * Takes products, prices, collections and tags from the platform, all or nothing. Refuses 'stale' where it would do
 * something else than the preview of this version said.
 * @param plan the version of that preview
 */
export async function syncCatalogue(
  ctx: AppContext,
  by: Actor,
  { plan }: { plan: string }
): Promise<Result<SyncCounts>> {
  const source = await readSource(ctx)
  if (!source.ok) return source
  return command(ctx, by, async unit => {
    const touched = await apply(unit, source.data)
    if (planVersion(touched) !== plan) return refuse('stale')
    const counts = countAll(touched, await ruleHolders(unit.tx, source.data.sold))
    await writeSync(unit, { what: 'catalogue', counts, touched })
    unit.audit('product.sync', 'all', { after: counts })
    for (const resource of ['collection', 'tag', 'acl_rule'] as const) unit.publish(resource)
    return ok(counts)
  })
}

const planVersion = (touched: Touched[]): string => versionOf({ touched })

async function readSource(ctx: AppContext): Promise<Result<Source>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const collections = await platform.data.collections()
  if (!collections.ok) return platformRefusal(collections)
  const tags = await platform.data.productTags()
  if (!tags.ok) return platformRefusal(tags)
  const sold = await platform.data.products()
  if (!sold.ok) return platformRefusal(sold)
  // Not on any page: asked for one by one, since a page may have been read while the platform changed.
  const seen = new Set(sold.value.map(product => product.id))
  for (const id of await productsOnPlatform(ctx.db)) {
    if (seen.has(id)) continue
    const product = await platform.data.product(id)
    if (product.ok) sold.value.push(product.value)
    else if (product.reason !== 'not_found') return platformRefusal(product)
  }
  return ok({ sold: sold.value, collections: collections.value, tags: tags.value })
}

/** @returns what it changed */
async function apply(unit: Unit, { sold, collections, tags }: Source): Promise<Touched[]> {
  const { tx } = unit
  await lockGroupings(tx)
  const before = await takeSnapshot(tx)
  const ours = await platformIds(tx)
  const ofRules = new Set((await rulesOnPlatform(tx)).map(rule => rule.platformVariantId))
  for (const product of sold)
    if (ours.has(product.id) || product.variants.some(({ id }) => ofRules.has(id)))
      await applyProductUpdate(unit, asEvent(product))
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

/** Products of the platform that the shop has not, and that hold no rules: a plan of theirs needs an administrator's choices. */
async function offered(db: Executor, sold: readonly ShopifyProduct[]): Promise<ShopifyProduct[]> {
  const ours = await platformIds(db)
  const holders = new Set((await ruleHolders(db, sold)).map(product => product.id))
  return sold.filter(({ id, status }) => status === 'ACTIVE' && !ours.has(id) && !holders.has(id))
}
