import { refuse, type SyncPreview } from '@netlet/contract'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { command } from '../../infra/command.ts'
import type { Actor } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { ShopifyProduct } from '../../integrations/shopify/index.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { nameRuleProducts } from '../inventory/index.ts'
import { planCollections, type CollectionsPlan } from './plan-collections.ts'
import { countChanges, presentPlan, type SyncCounts } from './plan-sync.ts'
import { planTags, type TagsPlan } from './plan-tags.ts'
import { recorded } from './record-sync.ts'
import { collections, productCollections, productTags, tags } from './tables.ts'

/** `plan`: the version of the preview that somebody agreed to; without it what is to be done is done. */
type SyncOptions = { plan?: string | undefined }

/**
 * Takes the collections from the platform, and which of the shop's products are in them. What an administrator wrote
 * stays. Everything is read before anything is written: a platform that fails half-way changes nothing, and a second
 * sync finds nothing to do. Refuses 'stale' where it would do something else than the preview said.
 */
export async function syncCollections(
  ctx: AppContext,
  by: Actor,
  { plan: agreed }: SyncOptions = {}
): Promise<Result<SyncCounts>> {
  const source = await readCollections(ctx)
  if (!source.ok) return source
  return command(ctx, by, async unit => {
    const { tx } = unit
    await lockGroupings(tx)
    const plan = await planCollections(tx, source.data)
    if (agreed !== undefined && agreed !== presentPlan(plan).version) return refuse('stale')
    const counts = countChanges(plan.changes)
    await recorded(unit, { what: 'collections', counts }, () => applyCollections(tx, plan, unit.now))
    unit.audit('collection.sync', 'all', { after: counts })
    return ok(counts)
  })
}

/** What `syncCollections` would do now. */
export async function previewCollections(ctx: AppContext): Promise<Result<SyncPreview>> {
  const source = await readCollections(ctx)
  return source.ok ? ok(presentPlan(await planCollections(ctx.db, source.data))) : source
}

/** Takes the tags from the platform, by the platform's name for them, and which products carry the new ones. */
export async function syncTags(
  ctx: AppContext,
  by: Actor,
  { plan: agreed }: SyncOptions = {}
): Promise<Result<SyncCounts>> {
  const source = await readTags(ctx)
  if (!source.ok) return source
  return command(ctx, by, async unit => {
    const { tx } = unit
    await lockGroupings(tx)
    const plan = await planTags(tx, source.data)
    if (agreed !== undefined && agreed !== presentPlan(plan).version) return refuse('stale')
    const counts = countChanges(plan.changes)
    await recorded(unit, { what: 'tags', counts }, async () => {
      await applyTags(tx, plan, unit.now)
      await nameRuleProducts(unit, productOfVariant(source.data.sold))
    })
    unit.audit('tag.sync', 'all', { after: counts })
    return ok(counts)
  })
}

/** What `syncTags` would do now. */
export async function previewTags(ctx: AppContext): Promise<Result<SyncPreview>> {
  const source = await readTags(ctx)
  return source.ok ? ok(presentPlan(await planTags(ctx.db, source.data))) : source
}

async function readCollections(ctx: AppContext) {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const theirs = await platform.data.collections()
  if (!theirs.ok) return platformRefusal(theirs)
  const sold = await platform.data.products()
  return sold.ok ? ok({ theirs: theirs.value, sold: sold.value }) : platformRefusal(sold)
}

async function readTags(ctx: AppContext) {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const theirs = await platform.data.productTags()
  if (!theirs.ok) return platformRefusal(theirs)
  const sold = await platform.data.products()
  return sold.ok ? ok({ theirs: theirs.value, sold: sold.value }) : platformRefusal(sold)
}

/** The platform's product of each of its variants. */
export const productOfVariant = (sold: readonly ShopifyProduct[]): Map<string, string> =>
  new Map(sold.flatMap(({ id, variants }) => variants.map(variant => [variant.id, id] as const)))

/** One sync at a time; an edit waits for it, so that it is not planned on what is another already. */
export async function lockGroupings(tx: Executor): Promise<void> {
  await lock(tx, 'catalogSync')
  await tx.execute(sql`lock table ${collections}, ${tags} in share row exclusive mode`)
}

export async function applyCollections(tx: Executor, plan: CollectionsPlan, at: Date): Promise<void> {
  if (plan.add.length > 0) await tx.insert(collections).values(plan.add)
  for (const { id, wanted } of plan.change)
    await tx
      .update(collections)
      .set({ ...wanted, deletedAt: null })
      .where(eq(collections.id, id))
  if (plan.remove.length > 0)
    await tx.update(collections).set({ deletedAt: at }).where(inArray(collections.id, plan.remove))
  const { added, removed } = plan.links
  if (added.length === 0 && removed.length === 0) return
  const rows = await tx.select({ id: collections.id, platformId: collections.platformId }).from(collections)
  const idOf = new Map(rows.map(row => [row.platformId, row.id]))
  for (const { productId, platformId } of removed) {
    const collectionId = idOf.get(platformId)
    if (collectionId === undefined) continue
    await tx
      .delete(productCollections)
      .where(and(eq(productCollections.productId, productId), eq(productCollections.collectionId, collectionId)))
  }
  const values = added.flatMap(({ productId, platformId }) => {
    const collectionId = idOf.get(platformId)
    return collectionId === undefined ? [] : [{ productId, collectionId }]
  })
  if (values.length > 0) await tx.insert(productCollections).values(values).onConflictDoNothing()
}

export async function applyTags(tx: Executor, plan: TagsPlan, at: Date): Promise<void> {
  // First those that go, so that their names are free for those that come.
  if (plan.remove.length > 0) await tx.update(tags).set({ deletedAt: at }).where(inArray(tags.id, plan.remove))
  const idOf = new Map<string, number>()
  for (const { id, carriers } of plan.carry) await tx.update(tags).set({ carriers }).where(eq(tags.id, id))
  for (const { id, platformName, name, carriers } of plan.add) {
    const [made] =
      id === undefined
        ? await tx.insert(tags).values({ platformName, name, carriers }).returning({ id: tags.id })
        : await tx
            .update(tags)
            .set({ name, carriers, deletedAt: null })
            .where(eq(tags.id, id))
            .returning({ id: tags.id })
    if (made) idOf.set(platformName, made.id)
  }
  const values = plan.links.added.flatMap(({ productId, platformId }) => {
    const tagId = idOf.get(platformId)
    return tagId === undefined ? [] : [{ productId, tagId }]
  })
  if (values.length > 0) await tx.insert(productTags).values(values).onConflictDoNothing()
}
