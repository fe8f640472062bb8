import { eq, inArray, isNull, sql } from 'drizzle-orm'
import type { ShopifyCollection, ShopifyProduct } from '../../integrations/shopify/index.ts'
import { command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import type { Actor } from '../../infra/actor.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { collections, productCollections, products, productTags, tags } from './tables.ts'

export type SyncCounts = { created: number; updated: number; removed: number }

/**
 * Takes the collections from the platform, and which of the shop's products are in them. What an administrator wrote
 * stays. Everything is read before anything is written: a platform that fails half-way changes nothing, and a second
 * sync finds nothing to do.
 */
export async function syncCollections(ctx: AppContext, by: Actor): Promise<Result<SyncCounts>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const theirs = await platform.data.collections()
  if (!theirs.ok) return platformRefusal(theirs)
  const sold = await platform.data.products()
  if (!sold.ok) return platformRefusal(sold)
  return command(ctx, by, async unit => {
    const { tx } = unit
    await lock(tx, 'catalogSync')
    const counts = await followCollections(tx, theirs.value, unit.now)
    await followMembership(tx, sold.value)
    unit.audit('collection.sync', 'all', { after: counts })
    return ok(counts)
  })
}

/** Takes the tags from the platform, by the platform's name for them, and which products carry the new ones. */
export async function syncTags(ctx: AppContext, by: Actor): Promise<Result<SyncCounts>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const theirs = await platform.data.productTags()
  if (!theirs.ok) return platformRefusal(theirs)
  const sold = await platform.data.products()
  if (!sold.ok) return platformRefusal(sold)
  return command(ctx, by, async unit => {
    const { tx } = unit
    await lock(tx, 'catalogSync')
    const { counts, fresh } = await followTags(tx, [...new Set(theirs.value)], unit.now)
    await tagProducts(tx, fresh, sold.value)
    unit.audit('tag.sync', 'all', { after: counts })
    return ok(counts)
  })
}

async function followCollections(tx: Executor, theirs: ShopifyCollection[], at: Date): Promise<SyncCounts> {
  const ours = new Map((await tx.select().from(collections).for('update')).map(row => [row.platformId, row]))
  const counts = { created: 0, updated: 0, removed: 0 }
  for (const their of theirs) {
    const row = ours.get(their.id)
    const wanted = { name: their.title, description: their.description, imageUrl: their.image?.url ?? null }
    if (!row) {
      await tx.insert(collections).values({ platformId: their.id, ...wanted })
      counts.created++
      continue
    }
    if (row.editedAt) Object.assign(wanted, { name: row.name, description: row.description })
    const differs =
      row.name !== wanted.name || row.description !== wanted.description || row.imageUrl !== wanted.imageUrl
    if (!differs && !row.deletedAt) continue
    await tx
      .update(collections)
      .set({ ...wanted, deletedAt: null })
      .where(eq(collections.id, row.id))
    counts[row.deletedAt ? 'created' : 'updated']++
  }
  const there = new Set(theirs.map(their => their.id))
  const gone = [...ours.values()].filter(row => !row.deletedAt && !there.has(row.platformId)).map(row => row.id)
  if (gone.length > 0) await tx.update(collections).set({ deletedAt: at }).where(inArray(collections.id, gone))
  counts.removed = gone.length
  return counts
}

/** Products are in the collections that the platform has them in; products that it does not know stay as they are. */
async function followMembership(tx: Executor, sold: ShopifyProduct[]): Promise<void> {
  const ourProducts = await productIds(tx)
  const rows = await tx.select({ id: collections.id, platformId: collections.platformId }).from(collections)
  const ourCollections = new Map(rows.map(row => [row.platformId, row.id]))
  for (const product of sold) {
    const productId = ourProducts.get(product.id)
    if (productId === undefined) continue
    const wanted = product.collections.flatMap(collection => ourCollections.get(collection.id) ?? [])
    await tx.execute(sql`delete from ${productCollections}
      where product_id = ${productId} and collection_id <> all(${sql.param(wanted)}::bigint[])`)
    if (wanted.length > 0)
      await tx
        .insert(productCollections)
        .values(wanted.map(collectionId => ({ productId, collectionId })))
        .onConflictDoNothing()
  }
}

async function followTags(tx: Executor, theirs: string[], at: Date) {
  const rows = await tx.select().from(tags).for('update')
  const ours = new Map(rows.map(row => [row.platformName, row]))
  const counts = { created: 0, updated: 0, removed: 0 }
  const there = new Set(theirs)
  // First those that go, so that their names are free for those that come.
  const gone = rows.filter(row => !row.deletedAt && !there.has(row.platformName)).map(row => row.id)
  if (gone.length > 0) await tx.update(tags).set({ deletedAt: at }).where(inArray(tags.id, gone))
  counts.removed = gone.length
  const taken = new Set(
    rows.filter(row => !row.deletedAt && there.has(row.platformName)).map(row => row.name.toLowerCase())
  )
  const fresh = new Map<string, number>()
  for (const platformName of theirs) {
    const row = ours.get(platformName)
    if (row && !row.deletedAt) continue
    // An administrator may have given another tag this name, and the platform may tell names apart that we do not.
    const name = taken.has(platformName.toLowerCase()) ? '' : platformName
    taken.add(platformName.toLowerCase())
    const [made] = row
      ? await tx.update(tags).set({ name, deletedAt: null }).where(eq(tags.id, row.id)).returning({ id: tags.id })
      : await tx.insert(tags).values({ platformName, name }).returning({ id: tags.id })
    if (made) fresh.set(platformName, made.id)
    counts.created++
  }
  return { counts, fresh }
}

/** Puts tags that were not there before on the products that carry them on the platform. */
async function tagProducts(tx: Executor, fresh: ReadonlyMap<string, number>, sold: ShopifyProduct[]): Promise<void> {
  const ourProducts = await productIds(tx)
  const links = sold.flatMap(product => {
    const productId = ourProducts.get(product.id)
    if (productId === undefined) return []
    return product.tags.flatMap(name => {
      const tagId = fresh.get(name)
      return tagId === undefined ? [] : [{ productId, tagId }]
    })
  })
  if (links.length > 0) await tx.insert(productTags).values(links).onConflictDoNothing()
}

async function productIds(tx: Executor): Promise<Map<string, number>> {
  const rows = await tx
    .select({ id: products.id, platformId: products.platformId })
    .from(products)
    .where(isNull(products.deletedAt))
  return new Map(rows.map(row => [row.platformId, row.id]))
}
