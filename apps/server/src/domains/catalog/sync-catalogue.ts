import { type CatalogPreview, type SyncChange, type SyncPart, refuse } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { isNull } from '../../infra/db/drizzle.ts'
import { type Result, ok } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import type { ShopifyProduct } from '../../integrations/shopify/index.ts'
import { nameRuleProducts, rulesOnPlatform } from '../inventory/index.ts'
import { applyProductUpdate, withdrawProduct } from './apply-product-event.ts'
import { optionsIn } from './options.ts'
import { MOST_CHANGES, type SyncCounts, countChanges, shortened, writeSync } from './plan-sync.ts'
import { planCollections, planTags, ruleHolders } from './plan-tags.ts'
import { asEvent } from './read-platform.ts'
import type { PlatformSource } from './read-source.ts'
import { difference, takeSnapshot } from './snapshot.ts'
import { applyCollections, applyTags, lockGroupings, productOfVariant } from './sync-groupings.ts'
import { type Field, type Touched, products } from './tables.ts'

/** Reports how many of the products are done. */
export type ReportProgress = (done: number, total: number) => Promise<void>

/**
 * What `importCatalogue` would do. It makes the changes in the unit, which the caller rolls back, so that the preview
 * equals the sync.
 */
export async function planCatalogue(
  unit: Unit,
  source: PlatformSource,
  tell: ReportProgress
): Promise<{ shown: CatalogPreview; version: string }> {
  const touched = await apply(unit, source, tell)
  const { sold } = source
  const [holders, added] = [await ruleHolders(unit.tx, sold), await addableProducts(unit.tx, sold)]
  return { shown: presentCatalogue(touched, { holders, offered: added, sold }), version: planVersion(touched) }
}

/**
 * Takes over products, prices, collections and tags, all or nothing. Refuses 'stale' if the changes are not those of
 * the plan with this version.
 */
export async function importCatalogue(
  unit: Unit,
  source: PlatformSource,
  { version, tell }: { version: string; tell: ReportProgress }
): Promise<Result<SyncCounts>> {
  const touched = await apply(unit, source, tell)
  if (planVersion(touched) !== version) return refuse('stale')
  const counts = countAll(touched, await ruleHolders(unit.tx, source.sold))
  await writeSync(unit, { what: 'catalogue', counts, touched })
  unit.audit('product.sync', 'all', { after: counts })
  for (const resource of ['collection', 'tag', 'acl_rule'] as const) unit.publish(resource)
  return ok(counts)
}

const planVersion = (touched: Touched[]): string => versionOf({ touched })

/** @returns what it changed */
async function apply(
  unit: Unit,
  { sold, collections, tags }: PlatformSource,
  tell: ReportProgress
): Promise<Touched[]> {
  const { tx } = unit
  await lockGroupings(tx)
  const before = await takeSnapshot(tx)
  const ours = await platformIds(tx)
  const ofRules = new Set((await rulesOnPlatform(tx)).map(rule => rule.platformVariantId))
  for (const [at, product] of sold.entries()) {
    await tell(at, sold.length)
    if (ours.has(product.id) || product.variants.some(({ id }) => ofRules.has(id)))
      await applyProductUpdate(unit, asEvent(product))
  }
  await nameRuleProducts(unit, productOfVariant(sold))
  const there = new Set(sold.map(product => product.id))
  for (const id of ours) if (!there.has(id)) await withdrawProduct(unit, { id })
  await applyCollections(tx, await planCollections(tx, { theirs: collections, sold }), unit.now)
  await applyTags(tx, await planTags(tx, { theirs: tags, sold }), unit.now)
  return difference(before, await takeSnapshot(tx))
}

async function platformIds(db: Executor): Promise<Set<string>> {
  const rows = await db.select({ id: products.platformId }).from(products).where(isNull(products.deletedAt))
  return new Set(rows.map(row => row.id))
}

/** The platform's products that could be added. A sync cannot add them: plans need an administrator's choices. */
async function addableProducts(db: Executor, sold: readonly ShopifyProduct[]): Promise<ShopifyProduct[]> {
  const ours = await platformIds(db)
  const holders = new Set((await ruleHolders(db, sold)).map(product => product.id))
  return sold.filter(({ id, forSale }) => forSale && !ours.has(id) && !holders.has(id))
}

type Parts = Record<SyncPart, SyncChange[]>

/** What a sync does, for people. */
export function presentCatalogue(
  touched: readonly Touched[],
  {
    holders,
    offered,
    sold
  }: {
    /** The platform's products that hold access rules. */
    holders: readonly ShopifyProduct[]
    offered: readonly ShopifyProduct[]
    sold: readonly ShopifyProduct[]
  }
): CatalogPreview {
  const parts = partsOf(touched, new Set(holders.map(product => product.id)))
  return {
    parts: (Object.keys(parts) as SyncPart[]).map(part => ({
      part,
      ...countChanges(parts[part]),
      changes: parts[part].slice(0, MOST_CHANGES).map(shortened)
    })),
    products: countMovedProducts(touched),
    internal: hiddenGroupings(holders, sold),
    offered: offered.slice(0, MOST_CHANGES).map(({ id, title }) => ({ id, name: title }))
  }
}

function countAll(touched: readonly Touched[], holders: readonly ShopifyProduct[]): SyncCounts {
  return countChanges(Object.values(partsOf(touched, new Set(holders.map(({ id }) => id)))).flat())
}

function countMovedProducts(touched: readonly Touched[]): number {
  const links = touched.filter(({ key }) => /^(member|tagged):/.test(key))
  return new Set(links.map(({ key }) => key.split(':')[1])).size
}

function partsOf(touched: readonly Touched[], holders: ReadonlySet<string>): Parts {
  const parts: Parts = { products: [], prices: [], collections: [], tags: [] }
  for (const one of touched) {
    const kind = one.key.slice(0, one.key.indexOf(':'))
    if (kind === 'product' || kind === 'rule') parts.products.push(...ofProduct(one))
    if (kind === 'options') parts.products.push(...ofOptions(one))
    if (kind === 'variant') parts.products.push(...ofVariant(one))
    if (kind === 'variant' || kind === 'rule') parts.prices.push(...ofPrice(one))
    if (kind === 'collection') parts.collections.push(...ofGrouping(one, COLLECTION))
    if (kind === 'tag') parts.tags.push(...ofGrouping(one, [], holders))
  }
  return parts
}

const text = (field: Field | undefined): string => (typeof field === 'string' ? field : '')
const fieldOf = (field: SyncChange['fields'][number]['field'], was: Field | undefined, is: Field | undefined) =>
  text(was) === text(is) ? [] : [{ field, was: text(was), is: text(is) }]

/** The changes of a product or a rule: on sale, off sale, or renamed. */
function ofProduct({ name, before, after }: Touched): SyncChange[] {
  if (before?.['valid'] !== after?.['valid'])
    return [{ kind: after?.['valid'] ? 'created' : 'removed', name, fields: [] }]
  const visibility = (row: Touched['before']): string => (row?.['unlisted'] ? 'unlisted' : 'shown')
  const fields = [
    ...fieldOf('name', before?.['name'], after?.['name']),
    ...fieldOf('visibility', visibility(before), visibility(after))
  ]
  return fields.length > 0 ? [{ kind: 'updated', name, fields }] : []
}

function ofVariant({ name, before, after }: Touched): SyncChange[] {
  if (before?.['deleted'] === false && after?.['deleted'] === true) return [{ kind: 'removed', name, fields: [] }]
  const fields = fieldOf('variant', before?.['name'], after?.['name'])
  return fields.length > 0 ? [{ kind: 'updated', name, fields }] : []
}

function ofOptions({ name, before, after }: Touched): SyncChange[] {
  const namesOf = (row: Touched['before']) =>
    optionsIn(row)
      .map(one => one.name)
      .join(', ')
  const fields = fieldOf('options', namesOf(before), namesOf(after))
  return fields.length > 0 ? [{ kind: 'updated', name, fields }] : []
}

function ofPrice({ name, before, after }: Touched): SyncChange[] {
  const fields = fieldOf('price', before?.['price'], after?.['price'])
  return fields.length > 0 ? [{ kind: 'updated', name, fields }] : []
}

const COLLECTION = ['name', 'description', 'image'] as const

function ofGrouping(
  { name, before, after }: Touched,
  names: readonly (typeof COLLECTION)[number][],
  holders: ReadonlySet<string> = new Set()
): SyncChange[] {
  const isInternal = (row: Touched['before']): boolean => {
    const carriers = row?.['carriers']
    return Array.isArray(carriers) && carriers.length > 0 && carriers.every(id => holders.has(id))
  }
  const visibility = (row: Touched['before']): string => (isInternal(row) ? 'internal' : 'shown')
  const [was, is] = [before !== null && !before['deleted'], after !== null && !after['deleted']]
  if (was && !is) return [{ kind: 'removed', name, fields: [] }]
  if (!was && is)
    return [
      { kind: 'created', name, fields: isInternal(after) ? [{ field: 'visibility', was: '', is: 'internal' }] : [] }
    ]
  const fields = [
    ...names.flatMap(field => fieldOf(field, before?.[field], after?.[field])),
    ...fieldOf('visibility', visibility(before), visibility(after))
  ]
  return fields.length > 0 ? [{ kind: 'updated', name, fields }] : []
}

/** What stays hidden from visitors, and why. */
function hiddenGroupings(
  holders: readonly ShopifyProduct[],
  sold: readonly ShopifyProduct[]
): CatalogPreview['internal'] {
  const ids = new Set(holders.map(product => product.id))
  const open = new Set(sold.filter(({ id }) => !ids.has(id)).flatMap(product => product.tags))
  const tags = new Set(holders.flatMap(product => product.tags).filter(tag => !open.has(tag)))
  return [
    ...holders.map(({ title }) => ({ kind: 'product' as const, name: title, because: [] })),
    ...[...tags].toSorted().map(name => ({
      kind: 'tag' as const,
      name,
      because: holders.filter(product => product.tags.includes(name)).map(({ title }) => title)
    }))
  ]
}
