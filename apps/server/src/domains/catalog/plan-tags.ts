import type { Executor } from '../../infra/db/client.ts'
import { eq, isNull } from '../../infra/db/drizzle.ts'
import type { ShopifyCollection, ShopifyProduct } from '../../integrations/shopify/index.ts'
import { rulesOnPlatform } from '../inventory/index.ts'
import { carriersOf } from './load-products.ts'
import type { Change, Link, Links, Planned } from './plan-sync.ts'
import { collections, productCollections, productTags, products, tags } from './tables.ts'

/** Whether visitors can choose a tag. */
const visibility = (isInternal: boolean): string => (isInternal ? 'internal' : 'shown')

export type TagsPlan = {
  /** `id`: of a deleted tag that comes back. */
  add: { id: number | undefined; platformName: string; name: string; carriers: string[] }[]
  /** Tags whose carriers changed. */
  carry: { id: number; carriers: string[] }[]
  remove: number[]
} & Planned

/**
 * What has to change so that our tags match the platform's by name, new tags are on their products, and internal tags
 * are marked. Writes nothing.
 */
export async function planTags(
  db: Executor,
  { theirs, sold }: { theirs: readonly string[]; sold: readonly ShopifyProduct[] }
): Promise<TagsPlan> {
  const rows = await db.select().from(tags).orderBy(tags.id)
  const ours = new Map(rows.map(row => [row.platformName, row]))
  const there = new Set(theirs)
  const add: TagsPlan['add'] = []
  const carry: TagsPlan['carry'] = []
  const changes: Change[] = []
  const { carriers, isInternal } = await readCarriers(db, sold)
  const gone = rows.filter(row => !row.deletedAt && !there.has(row.platformName))
  const taken = new Set(
    rows.filter(row => !row.deletedAt && there.has(row.platformName)).map(row => row.name.toLowerCase())
  )
  for (const platformName of there) {
    const row = ours.get(platformName)
    const now = carriers(platformName)
    if (row && !row.deletedAt) {
      if (row.carriers.join() !== now.join()) carry.push({ id: row.id, carriers: now })
      const [was, is] = [visibility(isInternal(row.carriers)), visibility(isInternal(now))]
      const name = row.name || row.platformName
      if (was !== is) changes.push({ kind: 'updated', name, fields: [{ field: 'visibility', was, is }] })
      continue
    }
    // An administrator may have given this name to another tag, and the platform may distinguish names that we do not.
    const name = taken.has(platformName.toLowerCase()) ? '' : platformName
    taken.add(platformName.toLowerCase())
    add.push({ id: row?.id, platformName, name, carriers: now })
    const shown = { field: 'visibility' as const, was: '', is: visibility(true) }
    changes.push({ kind: 'created', name: platformName, fields: isInternal(now) ? [shown] : [] })
  }
  for (const row of gone) changes.push({ kind: 'removed', name: row.name || row.platformName, fields: [] })
  const fresh = new Set(add.map(one => one.platformName))
  return { add, carry, remove: gone.map(row => row.id), changes, ...(await planTagging(db, { sold, fresh, there })) }
}

/** Which platform products carry each tag, and whether all of them hold access rules. */
async function readCarriers(db: Executor, sold: readonly ShopifyProduct[]) {
  const byTag = new Map<string, string[]>()
  for (const { id, tags: names } of sold) for (const name of names) byTag.set(name, [...(byTag.get(name) ?? []), id])
  const internal = new Set((await ruleHolders(db, sold)).map(product => product.id))
  return {
    carriers: (name: string): string[] => carriersOf(byTag.get(name) ?? []),
    isInternal: (ids: readonly string[]): boolean => ids.length > 0 && ids.every(id => internal.has(id))
  }
}

/** The platform's products with variants that sell access rules. */
export async function ruleHolders(db: Executor, sold: readonly ShopifyProduct[]): Promise<ShopifyProduct[]> {
  const ofRules = new Set((await rulesOnPlatform(db)).map(rule => rule.platformVariantId))
  return sold.filter(({ variants }) => variants.some(({ id }) => ofRules.has(id)))
}

/** Puts new tags on the products that carry them on the platform. */
async function planTagging(
  db: Executor,
  { sold, fresh, there }: { sold: readonly ShopifyProduct[]; fresh: ReadonlySet<string>; there: ReadonlySet<string> }
): Promise<Pick<Planned, 'links' | 'moved'>> {
  const ourProducts = await productIds(db)
  const rows = await db
    .select({ productId: productTags.productId, name: tags.platformName, deletedAt: tags.deletedAt })
    .from(productTags)
    .innerJoin(tags, eq(tags.id, productTags.tagId))
  const present = new Set(rows.map(row => `${row.productId} ${row.name}`))
  const added = sold.flatMap((product): Link[] => {
    const productId = ourProducts.get(product.id)
    if (productId === undefined) return []
    return [...new Set(product.tags)]
      .filter(name => fresh.has(name) && !present.has(`${productId} ${name}`))
      .map(platformId => ({ productId, platformId }))
  })
  const moved = new Set(added.map(link => link.productId))
  const ours = new Set(ourProducts.values())
  // A deleted tag stays on its products and shows again when it comes back.
  for (const { productId, name, deletedAt } of rows)
    if (ours.has(productId) && there.has(name) === (deletedAt !== null)) moved.add(productId)
  return { links: { added, removed: [] }, moved }
}

type Row = typeof collections.$inferSelect
type Wanted = Pick<Row, 'name' | 'description' | 'imageUrl'>

export type CollectionsPlan = {
  add: (Wanted & { platformId: string })[]
  change: { id: number; wanted: Wanted }[]
  /** Ids of collections that the platform no longer has. */
  remove: number[]
} & Planned

/**
 * What has to change so that our collections and their products match the platform's. Writes nothing. It keeps
 * administrators' texts and products that the platform does not know.
 */
export async function planCollections(
  db: Executor,
  { theirs, sold }: { theirs: readonly ShopifyCollection[]; sold: readonly ShopifyProduct[] }
): Promise<CollectionsPlan> {
  const rows = await db.select().from(collections).orderBy(collections.id)
  const ours = new Map(rows.map(row => [row.platformId, row]))
  const plan: Omit<CollectionsPlan, 'links' | 'moved'> = { add: [], change: [], remove: [], changes: [] }
  for (const their of new Map(theirs.map(one => [one.id, one])).values()) {
    const row = ours.get(their.id)
    const wanted = {
      name: row?.editedAt ? row.name : their.title,
      description: row?.editedAt ? row.description : their.description,
      imageUrl: their.image?.url ?? null
    }
    if (!row) plan.add.push({ platformId: their.id, ...wanted })
    const fields = row ? differences(row, wanted) : []
    if (row && (row.deletedAt || fields.length > 0)) plan.change.push({ id: row.id, wanted })
    if (!row || row.deletedAt) plan.changes.push({ kind: 'created', name: wanted.name, fields: [] })
    else if (fields.length > 0) plan.changes.push({ kind: 'updated', name: wanted.name, fields })
  }
  const there = new Set(theirs.map(their => their.id))
  for (const row of rows) {
    if (row.deletedAt || there.has(row.platformId)) continue
    plan.remove.push(row.id)
    plan.changes.push({ kind: 'removed', name: row.name, fields: [] })
  }
  const known = new Set([...ours.keys(), ...plan.add.map(one => one.platformId)])
  return { ...plan, ...(await planMembership(db, { sold, known, there })) }
}

function differences(row: Wanted, wanted: Wanted): Change['fields'] {
  const pairs = [
    { field: 'name' as const, was: row.name, is: wanted.name },
    { field: 'description' as const, was: row.description, is: wanted.description },
    { field: 'image' as const, was: row.imageUrl ?? '', is: wanted.imageUrl ?? '' }
  ]
  return pairs.filter(({ was, is }) => was !== is)
}

/** Products belong to the collections in which the platform has them. */
async function planMembership(
  db: Executor,
  { sold, known, there }: { sold: readonly ShopifyProduct[]; known: ReadonlySet<string>; there: ReadonlySet<string> }
): Promise<Pick<Planned, 'links' | 'moved'>> {
  const ourProducts = await productIds(db)
  const rows = await db
    .select({
      productId: productCollections.productId,
      platformId: collections.platformId,
      deletedAt: collections.deletedAt
    })
    .from(productCollections)
    .innerJoin(collections, eq(collections.id, productCollections.collectionId))
    .orderBy(productCollections.productId, productCollections.collectionId)
  const present = Map.groupBy(rows, row => row.productId)
  const links: Links = { added: [], removed: [] }
  for (const product of sold) {
    const productId = ourProducts.get(product.id)
    if (productId === undefined) continue
    const wanted = new Set(product.collections.map(one => one.id).filter(id => known.has(id)))
    const now = new Set((present.get(productId) ?? []).map(row => row.platformId))
    const linkTo = (platformId: string): Link => ({ productId, platformId })
    links.added.push(...[...wanted].filter(id => !now.has(id)).map(linkTo))
    links.removed.push(...[...now].filter(id => !wanted.has(id)).map(linkTo))
  }
  const moved = new Set([...links.added, ...links.removed].map(link => link.productId))
  const ours = new Set(ourProducts.values())
  // A deleted collection keeps its product links, which show again when it comes back.
  for (const { productId, platformId, deletedAt } of rows)
    if (ours.has(productId) && there.has(platformId) === (deletedAt !== null)) moved.add(productId)
  return { links, moved }
}

/** Our products by the platform's id. */
async function productIds(db: Executor): Promise<Map<string, number>> {
  const rows = await db
    .select({ id: products.id, platformId: products.platformId })
    .from(products)
    .where(isNull(products.deletedAt))
  return new Map(rows.map(row => [row.platformId, row.id]))
}
