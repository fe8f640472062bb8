import type { Product } from '@netlet/contract'
import { and, asc, desc, eq, ilike, isNull, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { loadProducts, type Viewer } from './load-products.ts'
import type { StockBoard } from './stock-board.ts'
import { collections, productCollections, products, productTags, tags, variants } from './tables.ts'

type ProductQuery = ListInput<'id'> & {
  collection?: number | undefined
  /** Products with any of these. */
  tags?: number[] | undefined
  id?: number | undefined
}

/** Offered, still on the platform, and with something to choose. */
export const onSale = (): SQL =>
  sql`${products.active} and ${products.valid} and exists (
    select 1 from ${variants} v where v.product_id = ${products.id} and v.is_active and v.deleted_at is null)`

/** Products, found by name: what the shop sells, or all that the console knows. */
export const productList = (stock: Pick<StockBoard, 'read'>, viewer: Viewer) =>
  defineList<ProductQuery, Product>({
    name: 'products',
    table: products,
    id: products.id,
    sort: { id: products.id },
    match: (_db, { id, search, collection, tags: anyTag }) => ({
      where: [
        isNull(products.deletedAt),
        viewer === 'shop' ? onSale() : undefined,
        id === undefined ? undefined : eq(products.id, id),
        search === undefined ? undefined : ilike(products.name, containing(search)),
        collection === undefined ? undefined : inCollection(collection),
        anyTag === undefined || anyTag.length === 0 ? undefined : withAnyTag(anyTag)
      ]
    }),
    load: async (db, ids) =>
      loadProducts(db, stock, await db.select().from(products).where(among(products.id, ids)), viewer)
  })

const RECOMMENDED = 100

/** Products on sale with any of these tags; those with more of them first. */
export async function recommendProducts(
  db: Executor,
  stock: Pick<StockBoard, 'read'>,
  tagIds: number[]
): Promise<Product[]> {
  const matches = sql`(select count(*) from ${productTags} pt where pt.product_id = ${products.id}
    and pt.tag_id = any(${sql.param(tagIds)}::bigint[]))`
  const rows = await db
    .select()
    .from(products)
    .where(and(isNull(products.deletedAt), onSale(), withAnyTag(tagIds)))
    .orderBy(desc(matches), asc(products.id))
    .limit(RECOMMENDED)
  return loadProducts(db, stock, rows, 'shop')
}

/** One product as the console shows it; undefined where it is not there (any more). */
export async function readProduct(
  db: Executor,
  stock: Pick<StockBoard, 'read'>,
  id: number
): Promise<Product | undefined> {
  const rows = await db
    .select()
    .from(products)
    .where(and(eq(products.id, id), isNull(products.deletedAt)))
  const [product] = await loadProducts(db, stock, rows, 'admin')
  return product
}

function inCollection(id: number): SQL {
  return sql`exists (select 1 from ${productCollections} pc join ${collections} c on c.id = pc.collection_id
    where pc.product_id = ${products.id} and c.id = ${id} and c.deleted_at is null)`
}

function withAnyTag(ids: number[]): SQL {
  return sql`exists (select 1 from ${productTags} pt join ${tags} t on t.id = pt.tag_id
    where pt.product_id = ${products.id} and t.deleted_at is null and t.id = any(${sql.param(ids)}::bigint[]))`
}
