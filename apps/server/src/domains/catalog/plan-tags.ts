import { eq } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import type { ShopifyProduct } from '../../integrations/shopify/index.ts'
import { productIds } from './plan-collections.ts'
import type { Change, Link, Planned } from './plan-sync.ts'
import { productTags, tags } from './tables.ts'

export type TagsPlan = {
  /** `id`: one that was deleted before and comes back. */
  add: { id: number | undefined; platformName: string; name: string }[]
  remove: number[]
} & Planned

/**
 * What has to change for the shop to have the platform's tags, by the platform's name for them, and for products to carry
 * those that are new. Nothing is written.
 */
export async function planTags(
  db: Executor,
  { theirs, sold }: { theirs: readonly string[]; sold: readonly ShopifyProduct[] }
): Promise<TagsPlan> {
  const rows = await db.select().from(tags).orderBy(tags.id)
  const ours = new Map(rows.map(row => [row.platformName, row]))
  const there = new Set(theirs)
  const add: TagsPlan['add'] = []
  const changes: Change[] = []
  const gone = rows.filter(row => !row.deletedAt && !there.has(row.platformName))
  const taken = new Set(
    rows.filter(row => !row.deletedAt && there.has(row.platformName)).map(row => row.name.toLowerCase())
  )
  for (const platformName of there) {
    const row = ours.get(platformName)
    if (row && !row.deletedAt) continue
    // An administrator may have given another tag this name, and the platform may tell names apart that we do not.
    const name = taken.has(platformName.toLowerCase()) ? '' : platformName
    taken.add(platformName.toLowerCase())
    add.push({ id: row?.id, platformName, name })
    changes.push({ kind: 'created', name: platformName, fields: [] })
  }
  for (const row of gone) changes.push({ kind: 'removed', name: row.name || row.platformName, fields: [] })
  const fresh = new Set(add.map(one => one.platformName))
  return { add, remove: gone.map(row => row.id), changes, ...(await planTagging(db, { sold, fresh, there })) }
}

/** Tags that were not there before are put on the products that carry them on the platform. */
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
  // A tag that is deleted stays on its products, and shows again when it comes back.
  for (const { productId, name, deletedAt } of rows)
    if (ours.has(productId) && there.has(name) === (deletedAt !== null)) moved.add(productId)
  return { links: { added, removed: [] }, moved }
}
