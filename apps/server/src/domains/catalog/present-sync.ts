import type { CatalogPreview, SyncChange, SyncPart } from '@netlet/contract'
import type { ShopifyProduct } from '../../integrations/shopify/index.ts'
import { countChanges, LISTED, shortened, type SyncCounts } from './plan-sync.ts'
import type { Field, Touched } from './tables.ts'

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
      changes: parts[part].slice(0, LISTED).map(shortened)
    })),
    products: movedProducts(touched),
    internal: internalOf(holders, sold),
    offered: offered.slice(0, LISTED).map(({ id, title }) => ({ id, name: title }))
  }
}

export function countAll(touched: readonly Touched[], holders: readonly ShopifyProduct[]): SyncCounts {
  return countChanges(Object.values(partsOf(touched, new Set(holders.map(({ id }) => id)))).flat())
}

function movedProducts(touched: readonly Touched[]): number {
  const links = touched.filter(({ key }) => /^(member|tagged):/.test(key))
  return new Set(links.map(({ key }) => key.split(':')[1])).size
}

function partsOf(touched: readonly Touched[], holders: ReadonlySet<string>): Parts {
  const parts: Parts = { products: [], prices: [], collections: [], tags: [] }
  for (const one of touched) {
    const kind = one.key.slice(0, one.key.indexOf(':'))
    if (kind === 'product' || kind === 'rule') parts.products.push(...ofProduct(one))
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
function internalOf(holders: readonly ShopifyProduct[], sold: readonly ShopifyProduct[]): CatalogPreview['internal'] {
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
