import type { Collection, Tag } from '@netlet/contract'
import { and, asc, count, eq, isNull, ne, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { containing, pageOf } from '../../infra/http/paging.ts'
import { onSale } from './list-products.ts'
import type { Viewer } from './load-products.ts'
import { collections, productCollections, products, tags } from './tables.ts'

type ListFilter = { limit: number; offset: number; search?: string | undefined }

/** A page of collections, each with the number of products that the viewer finds in it. */
export async function listCollections(db: Executor, filter: ListFilter, viewer: Viewer) {
  const where = and(
    isNull(collections.deletedAt),
    filter.search === undefined ? undefined : sql`${collections.name} ilike ${containing(filter.search)}`
  )
  const [[counted], rows] = await Promise.all([
    db.select({ total: count() }).from(collections).where(where),
    selectCollections(db, where, viewer, filter)
  ])
  return pageOf(rows, counted?.total ?? 0, filter)
}

/** One collection as the console shows it. */
export async function readCollection(db: Executor, id: number): Promise<Collection | undefined> {
  const [found] = await selectCollections(db, eq(collections.id, id), 'admin', { limit: 1, offset: 0 })
  return found
}

async function selectCollections(
  db: Executor,
  where: SQL | undefined,
  viewer: Viewer,
  { limit, offset }: { limit: number; offset: number }
): Promise<Collection[]> {
  const inIt = db
    .select({ collectionId: productCollections.collectionId, found: count().as('found') })
    .from(productCollections)
    .innerJoin(products, eq(products.id, productCollections.productId))
    .where(and(isNull(products.deletedAt), viewer === 'shop' ? onSale() : undefined))
    .groupBy(productCollections.collectionId)
    .as('in_it')
  return db
    .select({
      id: collections.id,
      collection_name: collections.name,
      collection_desc: collections.description,
      shopify_collection_id: collections.platformId,
      image_url: collections.imageUrl,
      product_count: sql<number>`coalesce(${inIt.found}, 0)`.mapWith(Number)
    })
    .from(collections)
    .leftJoin(inIt, eq(inIt.collectionId, collections.id))
    .where(where)
    .orderBy(asc(collections.id))
    .limit(limit)
    .offset(offset)
}

/** A page of tags by name; a tag without a name is nothing to choose and is left out. */
export async function listTags(db: Executor, filter: ListFilter) {
  const where = and(
    isNull(tags.deletedAt),
    ne(tags.name, ''),
    filter.search === undefined ? undefined : sql`${tags.name} ilike ${containing(filter.search)}`
  )
  const [[counted], rows] = await Promise.all([
    db.select({ total: count() }).from(tags).where(where),
    db
      .select()
      .from(tags)
      .where(where)
      .orderBy(asc(sql`lower(${tags.name})`), asc(tags.id))
      .limit(filter.limit)
      .offset(filter.offset)
  ])
  return pageOf(rows.map(presentTag), counted?.total ?? 0, filter)
}

export const presentTag = (row: Pick<typeof tags.$inferSelect, 'id' | 'name' | 'description'>): Tag => ({
  id: row.id,
  tag_name: row.name,
  tag_desc: row.description
})
