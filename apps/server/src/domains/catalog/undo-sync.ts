import { refuse, type LastSync } from '@netlet/contract'
import { and, desc, eq, isNull } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { done, type Result } from '../../infra/result.ts'
import { optionsIn, setOptions } from './options.ts'
import { changedSince, takeSnapshot } from './snapshot.ts'
import { lockGroupings } from './sync-groupings.ts'
import {
  catalogSyncs,
  collections,
  productCollections,
  products,
  productTags,
  tags,
  variants,
  type Field,
  type Touched
} from './tables.ts'

/** The most names in one answer. */
const NAMED = 20

type SyncRow = typeof catalogSyncs.$inferSelect

async function findLast(db: Executor): Promise<SyncRow | undefined> {
  const [last] = await db.select().from(catalogSyncs).orderBy(desc(catalogSyncs.id)).limit(1)
  return last
}

/** The last sync that changed something, and what has changed since; null before the first sync. */
export async function readLastSync(db: Executor): Promise<LastSync | null> {
  const last = await findLast(db)
  if (!last) return null
  const others = last.undoneAt ? [] : changedSince(await takeSnapshot(db), last.touched)
  return {
    id: last.id,
    what: last.what,
    username: last.by,
    created_at: iso(last.createdAt),
    ...last.counts,
    undone_at: last.undoneAt && iso(last.undoneAt),
    changed: others.slice(0, NAMED).map(one => one.name),
    changed_count: others.length
  }
}

/**
 * Reverts the last sync, except prices and what is for sale: customers pay the platform's prices and can buy only what
 * it sells. Refuses 'stale' after another sync, and 'sync_changed' if something has changed since; then it reverts
 * nothing.
 */
export function undoSync(ctx: AppContext, by: Actor, { id }: { id: number }): Promise<Result<null>> {
  return command(ctx, by, { unique: { tags_name_key: 'name_taken', variants_options_key: 'conflict' } }, async unit => {
    await lockGroupings(unit.tx)
    const last = await findLast(unit.tx)
    if (!last) return refuse('not_found')
    if (last.id !== id || last.undoneAt) return refuse('stale')
    const others = changedSince(await takeSnapshot(unit.tx), last.touched)
    if (others.length > 0) {
      const names = others.slice(0, NAMED).map(one => one.name)
      return refuse('sync_changed', { params: { names: names.join(', ') }, data: { changed: names } })
    }
    await restore(unit, last.touched)
    await unit.tx.update(catalogSyncs).set({ undoneAt: unit.now }).where(eq(catalogSyncs.id, id))
    unit.audit('product.undo_sync', 'all', { before: last.counts })
    for (const resource of ['collection', 'tag', 'acl_rule'] as const) unit.publish(resource)
    return done
  })
}

const text = (field: Field | undefined): string => (typeof field === 'string' ? field : '')
const textOrNull = (field: Field | undefined): string | null => (typeof field === 'string' ? field : null)

async function restore(unit: Unit, touched: readonly Touched[]): Promise<void> {
  const { tx } = unit
  const of = (kind: string) => touched.filter(one => one.key.startsWith(`${kind}:`))
  const rest = ({ key }: Touched) => key.slice(key.indexOf(':') + 1)
  for (const one of of('product')) {
    if (!one.before) continue
    // The flag stays, because the platform's variants still came or went.
    await tx
      .update(products)
      .set({ name: text(one.before['name']) })
      .where(eq(products.id, Number(rest(one))))
  }
  for (const one of of('options')) await setOptions(tx, Number(rest(one)), optionsIn(one.before))
  await restoreVariants(tx, of('variant'))
  for (const one of of('collection')) {
    const gone = one.before === null || one.before['deleted'] === true
    await tx
      .update(collections)
      .set({
        deletedAt: gone ? unit.now : null,
        ...(one.before && {
          name: text(one.before['name']),
          description: text(one.before['description']),
          imageUrl: textOrNull(one.before['image'])
        })
      })
      .where(eq(collections.platformId, rest(one)))
  }
  // Remove tags first, so that restored ones can take their names.
  const ofTags = of('tag').toSorted((a, b) => Number(isThere(a)) - Number(isThere(b)))
  for (const one of ofTags) {
    const { name, carriers } = one.before ?? {}
    await tx
      .update(tags)
      .set({
        deletedAt: isThere(one) ? null : unit.now,
        ...(one.before && { name: text(name), carriers: Array.isArray(carriers) ? carriers : [] })
      })
      .where(eq(tags.platformName, rest(one)))
  }
  await restoreLinks(tx, touched)
}

const isThere = ({ before }: Touched): boolean => before !== null && before['deleted'] !== true

/** Restores names and options of variants that the platform still has. */
async function restoreVariants(tx: Unit['tx'], touched: readonly Touched[]): Promise<void> {
  const live = (key: string) => and(eq(variants.id, Number(key.slice('variant:'.length))), isNull(variants.deletedAt))
  // A variant that an administrator added during the sync has no former state, so it stays.
  const known = touched.flatMap(({ key, before }) => (before ? [{ key, before }] : []))
  // Two may have swapped their options. Options are unique, so park them on temporary values first.
  for (const { key } of known)
    await tx
      .update(variants)
      .set({ option1: `moving ${key}` })
      .where(live(key))
  for (const { key, before } of known)
    await tx
      .update(variants)
      .set({
        name: text(before['name']),
        option1: textOrNull(before['option1']),
        option2: textOrNull(before['option2']),
        option3: textOrNull(before['option3'])
      })
      .where(live(key))
}

/** Restores which products were in which collections and carried which tags. */
async function restoreLinks(tx: Unit['tx'], touched: readonly Touched[]): Promise<void> {
  for (const { key, before } of touched) {
    const [kind, productId, ...to] = key.split(':')
    if (kind !== 'member' && kind !== 'tagged') continue
    const platformId = to.join(':')
    const [found] =
      kind === 'member'
        ? await tx.select({ id: collections.id }).from(collections).where(eq(collections.platformId, platformId))
        : await tx.select({ id: tags.id }).from(tags).where(eq(tags.platformName, platformId))
    if (!found) continue
    const product = Number(productId)
    if (kind === 'member') {
      const link = { productId: product, collectionId: found.id }
      if (before) await tx.insert(productCollections).values(link).onConflictDoNothing()
      else
        await tx
          .delete(productCollections)
          .where(and(eq(productCollections.productId, product), eq(productCollections.collectionId, found.id)))
    } else if (before)
      await tx.insert(productTags).values({ productId: product, tagId: found.id }).onConflictDoNothing()
    else await tx.delete(productTags).where(and(eq(productTags.productId, product), eq(productTags.tagId, found.id)))
  }
}
