import { eq, isNull } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { ShopifyCollection, ShopifyProduct } from '../../integrations/shopify/index.ts'
import type { Change, Link, Links, Planned } from './plan-sync.ts'
import { collections, productCollections, products } from './tables.ts'

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
export async function productIds(db: Executor): Promise<Map<string, number>> {
  const rows = await db
    .select({ id: products.id, platformId: products.platformId })
    .from(products)
    .where(isNull(products.deletedAt))
  return new Map(rows.map(row => [row.platformId, row.id]))
}
