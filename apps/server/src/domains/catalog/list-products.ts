import type { Found, Product } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, asc, desc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { nameContains } from '../../infra/translations.ts'
import { type Viewer, isInternalProduct, loadProducts } from './load-products.ts'
import type { StockBoard } from './stock-board.ts'
import { collections, priceDrifts, productCollections, productTags, products, tags, variants } from './tables.ts'

/** Products with the text in their name in any language: exact matches first, then the newest. They are few. */
export function searchProducts(db: Executor, text: string, limit: number): Promise<Found['products']> {
  const exact = sql<boolean>`lower(${products.name}) = ${text.toLowerCase()}`
  return db
    .select({ id: products.id, product_name: products.name, active: products.active, exact })
    .from(products)
    .where(and(isNull(products.deletedAt), nameContains(products, text)))
    .orderBy(desc(exact), desc(products.id))
    .limit(limit)
}

/** For each access rule, the products on sale that have free addresses under it. */
export type Offers = ReadonlyMap<number, readonly number[]>

type ProductQuery = ListInput<'id'> & {
  collection?: number | undefined
  acl?: number | undefined
  /** Products with any of these. */
  tags?: number[] | undefined
  active?: '0' | '1' | undefined
  problem?: '1' | undefined
  low_stock?: '1' | undefined
}

/** Offered, still on the platform, with an active variant, and not a product that holds access rules. */
export const onSale = (): SQL =>
  sql`${products.active} and ${products.valid} and not ${isInternalProduct()} and exists (
    select 1 from ${variants} v where v.product_id = ${products.id} and v.is_active and v.deleted_at is null)`

/** On sale, and not sold by its own link only. */
export const isListed = (): SQL => sql`${onSale()} and not ${products.unlisted}`

/** Products, by name: those on sale, or all of them for the console. @param offers the products of each rule */
export const productList = (stock: Pick<StockBoard, 'read'>, viewer: Viewer, offers: () => Promise<Offers>) =>
  defineList<ProductQuery, Product>({
    name: 'products',
    table: products,
    id: products.id,
    sort: { id: products.id },
    match: async (_db, { id, search, collection, acl, tags: anyTag, active, problem, low_stock }) => ({
      where: [
        isNull(products.deletedAt),
        // A request for one id may come from the product's own link, so it includes unlisted ones.
        viewer === 'admin' ? undefined : id === undefined ? isListed() : onSale(),
        active === undefined ? undefined : eq(products.active, active === '1'),
        problem === undefined || viewer === 'shop' ? undefined : inTrouble(),
        low_stock === undefined || viewer === 'shop' ? undefined : lowStock(),
        search === undefined ? undefined : nameContains(products, search),
        collection === undefined ? undefined : inCollection(collection),
        acl === undefined ? undefined : among(products.id, (await offers()).get(acl) ?? []),
        anyTag === undefined || anyTag.length === 0 ? undefined : withAnyTag(anyTag)
      ]
    }),
    load: async (db, ids) =>
      loadProducts(db, stock, await db.select().from(products).where(among(products.id, ids)), viewer)
  })

/** Needs a decision of an administrator: see the contract. */
const inTrouble = (): SQL =>
  sql`(not ${products.valid} or ${products.oldFlag} or exists (
    select 1 from ${variants} v left join ${priceDrifts} d on d.variant_id = v.id
    where v.product_id = ${products.id} and v.deleted_at is null
      and (d.platform_price <> v.price or v.is_active and v.server_group_id is null or v.platform_stock <> 'none' or v.shipped)))`

/** The server groups, block sizes and families from which products are sold. */
export const blocksSold = (): SQL =>
  sql`select v.product_id, v.server_group_id as group_id, v.cart_step as step,
      case v.address_family when 'ipv6' then 6 else 4 end as family from ${variants} v
    where v.is_active and v.deleted_at is null and v.server_group_id is not null`

/** A variant that can be sold fewer times than this is low on stock. */
const LOW = 10

/**
 * On sale, with a variant whose group has few blocks left under its best rule. One query for each group, block size and
 * family.
 */
const lowStock = (): SQL =>
  sql`(${onSale()} and ${products.id} in (
    with sold as (${blocksSold()}), low as (
      select k.group_id, k.step, k.family from (select distinct group_id, step, family from sold) k
      where coalesce((select max(s.stock) from inventory.stock_by_rule(k.group_id, k.step, '{}', k.family) s), 0) < ${LOW} * k.step
    )
    select sold.product_id from sold join low using (group_id, step, family)))`

/** How many products are low on stock: the filter `low_stock` lists them. */
export const countLowStock = (db: Executor): Promise<number> =>
  db.$count(products, and(isNull(products.deletedAt), lowStock()))

const RECOMMENDED = 100

/** Products on sale with any of these tags, those with the most matches first. */
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
    .where(and(isNull(products.deletedAt), isListed(), withAnyTag(tagIds)))
    .orderBy(desc(matches), asc(products.id))
    .limit(RECOMMENDED)
  return loadProducts(db, stock, rows, 'shop')
}

/** One product for the console; undefined if it does not exist. */
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

/** What search engines and link previews may know of a product. */
export type Advertised = {
  id: number
  name: string
  /** Plain text. */
  description: string
  imageUrl: string | null
  /** Search engines must not index it. */
  unlisted: boolean
  /** The lowest and highest price of its variants without rules, exact, in the shop's currency. */
  from: string
  to: string
  offers: number
}

/** A product on sale; undefined if it is not, or no longer, on sale. */
export async function advertisedProduct(db: Executor, id: number): Promise<Advertised | undefined> {
  const [row] = await db
    .select({
      id: products.id,
      name: products.name,
      description: products.description,
      imageUrl: products.imageUrl,
      unlisted: products.unlisted,
      from: sql<string>`min(${variants.price})::text`,
      to: sql<string>`max(${variants.price})::text`,
      offers: sql<number>`count(*)::int`
    })
    .from(products)
    .innerJoin(variants, and(eq(variants.productId, products.id), variants.isActive, isNull(variants.deletedAt)))
    .where(and(eq(products.id, id), isNull(products.deletedAt), onSale()))
    .groupBy(products.id)
  return row
}

/** The ids of listed products on sale, ascending. @param most the limit */
export async function productsOnSale(db: Executor, most: number): Promise<number[]> {
  const rows = await db
    .select({ id: products.id })
    .from(products)
    .where(and(isNull(products.deletedAt), isListed()))
    .orderBy(asc(products.id))
    .limit(most)
  return rows.map(({ id }) => id)
}
