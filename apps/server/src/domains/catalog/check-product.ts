import type { AddressFamily, EgressMode, Health, ProductForm, Refusal } from '@netlet/contract'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { z } from 'zod'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, asc, eq, exists, inArray, isNull, ne } from '../../infra/db/drizzle.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { lockVariants, maxStep, rulesSoldAs } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { serverGroups } from '../servers/tables.ts'
import { collections, products, tags, variants } from './tables.ts'

export type ProductInput = z.output<typeof ProductForm>
export type VariantInput = ProductInput['variants'][number]

/** Two variants of a form must not be the same variant of the platform or of ours. */
export function findRepeatedVariant(given: readonly VariantInput[]): Refusal | undefined {
  const seen = new Set<string>()
  for (const [at, variant] of given.entries()) {
    const keys = [`platform ${variant.shopify_variant_id}`, ...(variant.id === undefined ? [] : [`ours ${variant.id}`])]
    if (keys.some(key => seen.has(key))) return fieldRefusal(`variants.${at}.shopify_variant_id`, 'chosen_twice')
    for (const key of keys) seen.add(key)
  }
  return undefined
}

/** A plan must not be sold as a platform variant that sells a rule. Locks the added variants. */
export async function checkRuleVariants(tx: Executor, given: readonly VariantInput[]): Promise<Refusal | undefined> {
  const added = given.filter(variant => variant.id === undefined).map(variant => variant.shopify_variant_id)
  if (added.length === 0) return undefined
  await lockVariants(tx, added)
  const rules = await rulesSoldAs(tx, added)
  const at = given.findIndex(variant => variant.id === undefined && rules.has(variant.shopify_variant_id))
  if (at < 0) return undefined
  const rule = rules.get(given[at]?.shopify_variant_id ?? '') ?? ''
  return fieldRefusal(`variants.${at}.shopify_variant_id`, 'variant_sold', { name: rule })
}

type Present = { id: number; serverGroupId: number | null; addressFamily: AddressFamily; egress: EgressMode }
const rowOf = (variant: VariantInput, present: readonly Present[]) => present.find(row => row.id === variant.id)

/** Only IPv6 has other exit addresses to change to: those of the same /64. */
export function checkEgress(given: readonly VariantInput[], present: readonly Present[] = []): Refusal | undefined {
  for (const [at, variant] of given.entries()) {
    const before = rowOf(variant, present)
    const family = variant.address_family ?? before?.addressFamily ?? 'ipv4'
    const egress = variant.egress ?? before?.egress ?? 'fixed'
    if (family !== 'ipv6' && egress !== 'fixed') return fieldRefusal(`variants.${at}.egress`, 'egress_needs_ipv6')
  }
  return undefined
}

/**
 * Each variant's newly chosen server group must exist and have a range of its family that holds one block; the refusal
 * names the variant. A group that has shrunk since does not block other edits.
 */
export async function checkServerGroups(
  tx: Executor,
  given: readonly VariantInput[],
  present: readonly Present[] = []
): Promise<Refusal | undefined> {
  const families = given.map(variant => variant.address_family ?? rowOf(variant, present)?.addressFamily ?? 'ipv4')
  const moved = given.map((variant, at) => {
    const before = rowOf(variant, present)
    const same = before?.serverGroupId === variant.server_group && before?.addressFamily === families[at]
    return same ? null : (variant.server_group ?? null)
  })
  const groupIds = [...new Set(moved.filter(group => group !== null))]
  if (groupIds.length === 0) return undefined
  const groups = await tx
    .select({ id: serverGroups.id })
    .from(serverGroups)
    .where(and(inArray(serverGroups.id, groupIds), isNull(serverGroups.deletedAt)))
    .for('key share')
  const known = new Set(groups.map(group => group.id))
  const largest = new Map<string, number>()
  for (const id of known)
    for (const family of new Set(families)) largest.set(`${id} ${family}`, await maxStep(tx, id, family))
  for (const [at, variant] of given.entries()) {
    const group = moved[at] ?? null
    if (group === null) continue
    if (!known.has(group)) return fieldRefusal(`variants.${at}.server_group`, 'choice_gone')
    const most = largest.get(`${group} ${families[at]}`) ?? 0
    if (variant.cart_step > most) return fieldRefusal(`variants.${at}.cart_step`, 'step_too_large')
  }
  return undefined
}

export async function checkGroupings(
  tx: Executor,
  { collectionIds = [], tagIds = [] }: { collectionIds?: number[]; tagIds?: number[] }
): Promise<Refusal | undefined> {
  if (collectionIds.length > 0) {
    const known = await tx.$count(
      collections,
      and(inArray(collections.id, collectionIds), isNull(collections.deletedAt))
    )
    if (known !== new Set(collectionIds).size) return fieldRefusal('product_collections', 'choice_gone')
  }
  if (tagIds.length > 0) {
    const known = await tx.$count(tags, and(inArray(tags.id, tagIds), isNull(tags.deletedAt)))
    if (known !== new Set(tagIds).size) return fieldRefusal('product_tags', 'choice_gone')
  }
  return undefined
}

type Unsellable = Pick<NonNullable<Health['platform']>, 'unpublished' | 'subscription_only' | 'counted' | 'shipped'>

/** The most names that are given. */
const NAMED = 5

/**
 * What the platform would sell if it were in its Online Store or needed no selling plan, what it sells only as long as
 * its own stock lasts, and what it ships.
 */
export async function findUnsellable(db: Executor): Promise<Unsellable> {
  const named = async (table: typeof products | typeof aclRules, condition: SQL | PgColumn | undefined) => {
    const rows = await db
      .select({ name: table.name })
      .from(table)
      .where(and(isNull(table.deletedAt), condition))
      .orderBy(asc(table.id))
    return { count: rows.length, names: rows.slice(0, NAMED).map(({ name }) => name) }
  }
  return {
    unpublished: {
      products: await named(products, products.unpublished),
      rules: await named(aclRules, aclRules.unpublished)
    },
    subscription_only: {
      products: await named(products, products.subscriptionOnly),
      rules: await named(aclRules, aclRules.subscriptionOnly)
    },
    counted: {
      products: await named(products, and(products.valid, exists(variantsThat(db, isCountedVariant)))),
      rules: await named(aclRules, ne(aclRules.platformStock, 'none'))
    },
    shipped: {
      products: await named(products, and(products.valid, exists(variantsThat(db, variants.shipped)))),
      rules: await named(aclRules, aclRules.shipped)
    }
  }
}

const isCountedVariant = ne(variants.platformStock, 'none')

/** The variants of a product, within a query of products. */
const variantsThat = (db: Executor, condition: SQL | PgColumn) =>
  db
    .select({ id: variants.id })
    .from(variants)
    .where(and(eq(variants.productId, products.id), isNull(variants.deletedAt), condition))

/** Does the platform count a plan or rule of ours that is sold as this product? */
export async function isStockTracked(db: Executor, platformProductId: string): Promise<boolean> {
  const ofProduct = and(eq(products.platformId, platformProductId), isNull(products.deletedAt))
  const plans = await db.$count(products, and(ofProduct, exists(variantsThat(db, isCountedVariant))))
  const ofRules = and(eq(aclRules.platformProductId, platformProductId), isNull(aclRules.deletedAt))
  return plans > 0 || (await db.$count(aclRules, and(ofRules, ne(aclRules.platformStock, 'none')))) > 0
}
