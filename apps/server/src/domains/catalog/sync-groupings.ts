import { refuse } from '@netlet/contract'
import { and, eq, inArray, sql } from '../../infra/db/drizzle.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { Actor } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { ShopifyProduct } from '../../integrations/shopify/index.ts'
import { nameRuleProducts } from '../inventory/index.ts'
import { type CollectionsPlan, type TagsPlan, planCollections, planTags } from './plan-tags.ts'
import { type SyncCounts, countChanges, recordSync, versionOfPlan } from './plan-sync.ts'
import { readSource, type PlatformSource } from './read-source.ts'
import { collections, productCollections, productTags, tags } from './tables.ts'

type Agreed = { version?: string | undefined }

/**
 * Takes over the collections and their products. Administrators' texts stay. A repeat changes nothing.
 * @param version of the plan that was agreed to: refuses 'stale' if the changes differ from it. Without it all changes
 * apply.
 */
export async function importCollections(
  unit: Unit,
  source: PlatformSource,
  { version }: Agreed = {}
): Promise<Result<SyncCounts>> {
  const { tx } = unit
  await lockGroupings(tx)
  const plan = await planOf(tx, 'collections', source)
  if (version !== undefined && version !== versionOfPlan(plan)) return refuse('stale')
  const counts = countChanges(plan.changes)
  await recordSync(unit, { what: 'collections', counts }, () => applyCollections(tx, plan, unit.now))
  unit.audit('collection.sync', 'all', { after: counts })
  return ok(counts)
}

/** Takes over the tags by the platform's name, and the products of new ones; see `importCollections`. */
export async function importTags(
  unit: Unit,
  source: PlatformSource,
  { version }: Agreed = {}
): Promise<Result<SyncCounts>> {
  const { tx } = unit
  await lockGroupings(tx)
  const plan = await planOf(tx, 'tags', source)
  if (version !== undefined && version !== versionOfPlan(plan)) return refuse('stale')
  const counts = countChanges(plan.changes)
  await recordSync(unit, { what: 'tags', counts }, async () => {
    await applyTags(tx, plan, unit.now)
    await nameRuleProducts(unit, productOfVariant(source.sold))
  })
  unit.audit('tag.sync', 'all', { after: counts })
  return ok(counts)
}

const PLANS = {
  collections: (db: Executor, { collections: theirs, sold }: PlatformSource) => planCollections(db, { theirs, sold }),
  tags: (db: Executor, { tags: theirs, sold }: PlatformSource) => planTags(db, { theirs, sold })
}

/** What a takeover would do now. */
export const planOf = <K extends keyof typeof PLANS>(db: Executor, what: K, source: PlatformSource) =>
  PLANS[what](db, source) as ReturnType<(typeof PLANS)[K]>

/** Reads the platform and takes over the collections in one call, for programs, which do not confirm a plan. */
export async function syncCollections(ctx: AppContext, by: Actor): Promise<Result<SyncCounts>> {
  const source = await readSource(ctx, 'collections')
  return source.ok ? command(ctx, by, unit => importCollections(unit, source.data)) : source
}

/** The same for tags. */
export async function syncTags(ctx: AppContext, by: Actor): Promise<Result<SyncCounts>> {
  const source = await readSource(ctx, 'tags')
  return source.ok ? command(ctx, by, unit => importTags(unit, source.data)) : source
}

/** The platform's product of each variant. */
export const productOfVariant = (sold: readonly ShopifyProduct[]): Map<string, string> =>
  new Map(sold.flatMap(({ id, variants }) => variants.map(variant => [variant.id, id] as const)))

/** One sync at a time. Edits wait for it, so that no plan is based on old rows. */
export async function lockGroupings(tx: Executor): Promise<void> {
  await lock(tx, 'catalogSync')
  await tx.execute(sql`lock table ${collections}, ${tags} in share row exclusive mode`)
}

export async function applyCollections(tx: Executor, plan: CollectionsPlan, at: Date): Promise<void> {
  if (plan.add.length > 0) await tx.insert(collections).values(plan.add.map(row => ({ ...row, createdAt: at })))
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
  // Remove tags first, so that new ones can take their names.
  if (plan.remove.length > 0) await tx.update(tags).set({ deletedAt: at }).where(inArray(tags.id, plan.remove))
  const idOf = new Map<string, number>()
  for (const { id, carriers } of plan.carry) await tx.update(tags).set({ carriers }).where(eq(tags.id, id))
  for (const { id, platformName, name, carriers } of plan.add) {
    const [made] =
      id === undefined
        ? await tx.insert(tags).values({ platformName, name, carriers, createdAt: at }).returning({ id: tags.id })
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
