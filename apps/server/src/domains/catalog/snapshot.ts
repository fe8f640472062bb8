import type { Executor } from '../../infra/db/client.ts'
import { and, asc, eq, inArray, isNull } from '../../infra/db/drizzle.ts'
import { versionOf } from '../../infra/version.ts'
import { aclRules } from '../inventory/tables.ts'
import { optionFields } from './options.ts'
import {
  type Field,
  type Touched,
  collections,
  productCollections,
  productOptions,
  productTags,
  products,
  tags,
  variants
} from './tables.ts'

/** A row's name and fields. The keys omit what differs between a preview and its sync. */
type Rows = Map<string, { name: string; fields: Record<string, Field> }>
export type Snapshot = Rows

/** All that a sync may change: products, their options, variants, rules, collections, tags, and their links. */
export async function takeSnapshot(db: Executor): Promise<Snapshot> {
  const rows: Rows = new Map()
  const ours = await db.select().from(products).where(isNull(products.deletedAt))
  const nameOf = new Map(ours.map(product => [product.id, product.name]))
  for (const { id, name, valid, unlisted, oldFlag } of ours)
    rows.set(`product:${id}`, { name, fields: { name, valid, unlisted, oldFlag } })
  const options = await db
    .select()
    .from(productOptions)
    .where(inArray(productOptions.productId, [...nameOf.keys()]))
  for (const [id, own] of Map.groupBy(options, ({ productId }) => productId))
    rows.set(`options:${id}`, { name: nameOf.get(id) ?? '', fields: optionFields(own) })
  for (const one of await db
    .select()
    .from(variants)
    .where(inArray(variants.productId, [...nameOf.keys()])))
    rows.set(`variant:${one.id}`, {
      name: `${nameOf.get(one.productId) ?? ''}: ${one.name}`,
      fields: {
        product: String(one.productId),
        name: one.name,
        option1: one.option1,
        option2: one.option2,
        option3: one.option3,
        price: one.price,
        isActive: one.isActive,
        deleted: one.deletedAt !== null
      }
    })
  for (const { id, name, price, valid } of await db.select().from(aclRules).where(isNull(aclRules.deletedAt)))
    rows.set(`rule:${id}`, { name, fields: { price, valid } })
  for (const one of await db.select().from(collections))
    rows.set(`collection:${one.platformId}`, {
      name: one.name,
      fields: {
        name: one.name,
        description: one.description,
        image: one.imageUrl,
        deleted: one.deletedAt !== null
      }
    })
  for (const one of await db.select().from(tags))
    rows.set(`tag:${one.platformName}`, {
      name: one.name || one.platformName,
      fields: { name: one.name, carriers: one.carriers, deleted: one.deletedAt !== null }
    })
  await addLinks(db, rows, nameOf)
  return rows
}

async function addLinks(db: Executor, rows: Rows, nameOf: ReadonlyMap<number, string>): Promise<void> {
  const members = await db
    .select({ productId: productCollections.productId, to: collections.platformId, name: collections.name })
    .from(productCollections)
    .innerJoin(collections, eq(collections.id, productCollections.collectionId))
  const tagged = await db
    .select({ productId: productTags.productId, to: tags.platformName, name: tags.name })
    .from(productTags)
    .innerJoin(tags, and(eq(tags.id, productTags.tagId)))
  const add = (kind: 'member' | 'tagged', { productId, to, name }: (typeof members)[number]) =>
    rows.set(`${kind}:${productId}:${to}`, { name: `${nameOf.get(productId) ?? ''}: ${name}`, fields: {} })
  for (const one of members) add('member', one)
  for (const one of tagged) add('tagged', one)
}

export function difference(before: Snapshot, after: Snapshot): Touched[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return keys.flatMap(key => {
    const [was, is] = [before.get(key), after.get(key)]
    if (was && is && isSame(was.fields, is.fields)) return []
    return [{ key, name: is?.name ?? was?.name ?? '', before: was?.fields ?? null, after: is?.fields ?? null }]
  })
}

// The database returns the fields of a JSON record in its own order.
const isSame = (a: Record<string, Field> | null, b: Record<string, Field> | null): boolean =>
  versionOf({ fields: a }) === versionOf({ fields: b })

/** Rows that changed after a sync, except prices and what is for sale or listed, which follow the platform anyway. */
export const changedSince = (now: Snapshot, touched: readonly Touched[]): Touched[] =>
  touched.filter(({ key, after }) => !isSame(ofShop(now.get(key)?.fields ?? null), ofShop(after)))

const ofShop = (fields: Record<string, Field> | null) => {
  if (!fields) return null
  const { price: _price, valid: _valid, unlisted: _unlisted, ...rest } = fields
  return rest
}

/** Names of the variants that sell from a server group, by id. */
export async function variantsSellingFrom(db: Executor, groupId: number): Promise<string[]> {
  const rows = await db
    .select({ name: variants.name })
    .from(variants)
    .where(and(eq(variants.serverGroupId, groupId), isNull(variants.deletedAt)))
    .orderBy(asc(variants.id))
  return rows.map(variant => variant.name)
}

/** The current term of a variant in days, even if it is no longer sold. */
export async function termOf(db: Executor, variantId: number): Promise<number> {
  const [variant] = await db.select({ days: variants.proxyTime }).from(variants).where(eq(variants.id, variantId))
  if (!variant) throw new Error(`There is no variant ${variantId}`)
  return variant.days
}

/** The platform's ids of our products, without withdrawn ones. */
export async function productsOnPlatform(db: Executor): Promise<string[]> {
  const rows = await db
    .select({ id: products.platformId })
    .from(products)
    .where(and(isNull(products.deletedAt), products.valid))
  return rows.map(product => product.id)
}
