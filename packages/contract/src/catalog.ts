import { z } from 'zod'
import {
  CART_STEPS,
  Done,
  formVersion,
  Id,
  IdList,
  IdParams,
  Money,
  ReasonParams,
  RuleId,
  Search,
  Time
} from './shapes.ts'
import { Translations } from './translations.ts'
import {
  CatalogPreview,
  Collection,
  CollectionForm,
  GroupStock,
  LastSync,
  OptionSelected,
  PlatformProduct,
  Product,
  ProductForm,
  ProductUpdate,
  RuleStock,
  Selection,
  SYNC_KINDS,
  SyncPreview,
  Tag,
  TagForm,
  VariantInfo
} from './products.ts'
import { message } from './form-messages.ts'
import { AddressFamily } from './address-family.ts'
import { PriceDrift, ShownPrices } from './health.ts'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'

// What visitors see of the catalogue before they choose a product.

/** An access rule as advertised in the shop. */
export const OfferedRule = z.object({
  acl_id: z.number(),
  acl_name: z.string(),
  /** Added to the price of each address. */
  price: Money,
  /** The first sites by name; `domain_count` is the total. */
  domains: z.array(z.string()),
  domain_count: z.number(),
  /** Products on sale with addresses under it now. */
  product_count: z.number(),
  translations: Translations
})
export type OfferedRule = z.infer<typeof OfferedRule>

/** Largest number of cells in a product's picture. */
export const PICTURE_CELLS = 240
/** The level of a full cell; an empty one is 0. */
export const PICTURE_LEVELS = 4

/** How much of a product's addresses is leased, as a picture of equal blocks of at least 16 addresses. */
export const OccupancyPicture = z.object({
  /** Each block's leased part, rounded to quarters: 0 to 4. Empty if there is too little to draw. */
  cells: z.array(z.int().min(0).max(PICTURE_LEVELS)).max(PICTURE_CELLS)
})
export type OccupancyPicture = z.infer<typeof OccupancyPicture>

/** `ready`: read and compared; an operator must apply or cancel the plan. */
export const SYNC_STATES = ['reading', 'ready', 'applying', 'applied', 'failed', 'cancelled'] as const
export type SyncState = (typeof SYNC_STATES)[number]

/** The step of a running sync. `single`: products missing from all pages, requested one by one. */
export const SYNC_STEPS = ['waiting', 'groupings', 'products', 'single', 'comparing', 'applying'] as const
export type SyncStep = (typeof SYNC_STEPS)[number]

/** Milliseconds for which a plan can be applied; afterwards the platform must be read again. */
export const SYNC_PLAN_MS = 3_600_000

/** A sync with the platform, from the first page to its changes. */
export const SyncRun = z.object({
  id: z.number(),
  what: z.enum(SYNC_KINDS),
  state: z.enum(SYNC_STATES),
  step: z.enum(SYNC_STEPS),
  /** Progress of the step in products; `done` 0 and `total` null if it is not counted. */
  done: z.number(),
  total: z.number().nullable(),
  /** Who started the reading, then who applied it. */
  username: z.string(),
  created_at: Time,
  /** When its plan was ready. */
  ready_at: Time.nullable(),
  ended_at: Time.nullable(),
  /** What it changed; null before that. */
  counts: z.object({ created: z.number(), updated: z.number(), removed: z.number() }).nullable(),
  /** Why it failed: a reason of the catalogue with its parameters, and the sentence. */
  reason: z.string().nullable(),
  params: ReasonParams,
  msg: z.string().nullable()
})
export type SyncRun = z.infer<typeof SyncRun>

/** What a sync would do. */
export const SyncPlan = z.union([
  CatalogPreview.extend({ what: z.literal('catalogue') }),
  SyncPreview.extend({ what: z.enum(['collections', 'tags']) })
])
export type SyncPlan = z.infer<typeof SyncPlan>

const P = '/api/products'

/** A product's form with as many variants as it may have, and a description of each. */
const PRODUCT_BYTES = 5 * 1024 * 1024

export const catalog = {
  products: route('GET', `${P}/products/`, {
    summary: 'Products; visitors and customers see the active ones',
    access: 'public',
    query: listQuery({
      sort: ['id'],
      filters: {
        /** The shop's list starts with the oldest, an administrator's with the newest. */
        sort_order: z.enum(['asc', 'desc'], { error: 'sort_order must be asc or desc' }).optional(),
        collection: Id.optional(),
        /** Products with addresses to lease under this access rule, the stock that `acl_list` shows. */
        acl: RuleId.optional(),
        tags: IdList.optional(),
        active: z.enum(['0', '1']).optional(),
        /** Administrators only: withdrawn or changed on the platform, a price drift, or a variant without a group. */
        problem: z.enum(['1']).optional(),
        /** Administrators only: on sale with a variant that can be sold fewer than ten times. */
        low_stock: z.enum(['1']).optional()
      }
    }),
    reply: page(Product)
  }),
  recommended: route('GET', `${P}/products/get_recommend_product/`, {
    summary: 'Active products with any of these tags',
    access: 'public',
    query: z.object({
      tags: z
        .string({ error: message('select_product') })
        .pipe(IdList)
        .refine(ids => ids.length > 0, message('select_product'))
    }),
    reply: z.array(Product)
  }),
  ruleStock: route('POST', `${P}/products/stock/`, {
    summary: 'Stock and price of each access rule for a choice of options',
    access: 'public',
    body: z.object({ product_id: Id, option_selected: OptionSelected }),
    reply: z.array(RuleStock)
  }),
  variantInfo: route('POST', `${P}/products/variant_info/`, {
    summary: 'Stock and price of a selection',
    access: 'public',
    body: z.object({ product_id: Id, option_selected: Selection }),
    reply: VariantInfo
  }),
  rules: route('GET', `${P}/acl_list/`, {
    summary: 'Access rules on sale, with the number of products for each; at most 100, most products first',
    access: 'public',
    reply: z.array(OfferedRule)
  }),
  occupancy: route('GET', `${P}/products/:id/occupancy/`, {
    summary: 'Occupancy of a product, as a picture without addresses',
    access: 'public',
    params: IdParams,
    reply: OccupancyPicture
  }),
  platformProducts: route('GET', `${P}/products/get_product_from_shopify/`, {
    summary: 'Platform products that are not added yet',
    access: 'admin',
    permission: 'products.view',
    query: z.object({ search: Search }),
    reply: z.array(PlatformProduct)
  }),
  platformProduct: route('GET', `${P}/products/:id/platform/`, {
    summary: 'A product as the platform has it now',
    access: 'admin',
    permission: 'products.view',
    params: IdParams,
    reply: PlatformProduct
  }),
  groupStock: route('GET', `${P}/group_stock/`, {
    summary: "Preview a variant's stock in a server group, by access rule",
    access: 'admin',
    permission: 'products.view',
    query: z.object({
      server_group: Id,
      cart_step: z.coerce.number().pipe(z.literal([...CART_STEPS], { error: message('must_be_cart_step') })),
      address_family: AddressFamily.default('ipv4')
    }),
    reply: GroupStock
  }),
  createProduct: route('POST', `${P}/products/`, {
    summary: 'Add a product',
    access: 'admin',
    permission: 'products.change',
    bodyLimit: PRODUCT_BYTES,
    body: ProductForm,
    reply: Product
  }),
  updateProduct: route('PUT', `${P}/products/:id/`, {
    summary: 'Edit a product',
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    bodyLimit: PRODUCT_BYTES,
    body: ProductUpdate.extend(formVersion),
    reply: Product
  }),
  deleteProduct: route('DELETE', `${P}/products/:id/`, {
    summary: 'Delete a product from the shop; its orders stay',
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    reply: Done
  }),
  rereadProducts: route('POST', `${P}/products/reread/`, {
    summary: 'Reread all products from the platform, in the background',
    access: 'admin',
    permission: 'products.change',
    body: z.object({}).optional(),
    reply: z.object({ status: z.literal('queued') })
  }),
  startSync: route('POST', `${P}/sync/runs/`, {
    summary: 'Compare the shop with the platform in the background; returns a sync that is already running',
    access: 'admin',
    permission: 'products.change',
    body: z.object({ what: z.enum(SYNC_KINDS) }),
    reply: SyncRun
  }),
  syncRuns: route('GET', `${P}/sync/runs/`, {
    summary: 'The latest sync of each kind, with its progress',
    access: 'admin',
    permission: 'products.view',
    reply: z.array(SyncRun)
  }),
  syncPlan: route('GET', `${P}/sync/runs/:id/plan/`, {
    summary: 'Changes that a finished comparison would make',
    access: 'admin',
    permission: 'products.view',
    params: IdParams,
    reply: SyncPlan
  }),
  applySync: route('POST', `${P}/sync/runs/:id/apply/`, {
    summary: "Apply a sync's changes in the background; fails if they no longer match the plan",
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: SyncRun
  }),
  cancelSync: route('POST', `${P}/sync/runs/:id/cancel/`, {
    summary: 'Cancel a sync and discard its data',
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  }),
  lastSync: route('GET', `${P}/sync/last/`, {
    summary: 'The last sync that changed something, and whether you can undo it',
    access: 'admin',
    permission: 'products.view',
    reply: LastSync.nullable()
  }),
  undoSync: route('POST', `${P}/sync/:id/undo/`, {
    summary: 'Undo the last sync, except prices and what is on sale; fails if its rows have changed since',
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  }),
  priceDrift: route('GET', `${P}/price_drift/`, {
    summary: 'Price mismatches that the last comparison found',
    access: 'admin',
    permission: 'products.view',
    query: listQuery({ sort: ['id'] }),
    reply: page(PriceDrift)
  }),
  takePlatformPrice: route('POST', `${P}/price_drift/:id/take/`, {
    summary: "Use the platform's current price",
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    body: ShownPrices.optional(),
    reply: Done
  }),
  writePlatformPrice: route('POST', `${P}/price_drift/:id/write/`, {
    summary: "Send the shop's price to the platform",
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    body: ShownPrices.optional(),
    reply: Done
  }),
  collections: route('GET', `${P}/product_collections/`, {
    summary: 'Collections',
    access: 'public',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(Collection)
  }),
  updateCollection: route('PUT', `${P}/product_collections/:id/`, {
    summary: 'Edit a collection',
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    body: CollectionForm.extend(formVersion),
    reply: Collection
  }),
  deleteCollection: route('DELETE', `${P}/product_collections/:id/`, {
    summary: 'Delete a collection',
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    reply: Done
  }),
  syncCollections: route('GET', `${P}/product_collections/sync_collection/`, {
    summary: 'Sync collections from the platform',
    access: 'admin',
    permission: 'products.change',
    reply: z.object({ created: z.number(), updated: z.number(), removed: z.number() })
  }),
  tags: route('GET', `${P}/product_tags/`, {
    summary: 'Tags',
    access: 'public',
    query: listQuery({ sort: ['name'], order: 'asc' }),
    reply: page(Tag)
  }),
  syncTags: route('GET', `${P}/product_tags/sync_tags/`, {
    summary: 'Sync tags from the platform',
    access: 'admin',
    permission: 'products.change',
    reply: z.object({ created: z.number(), updated: z.number(), removed: z.number() })
  }),
  updateTag: route('PUT', `${P}/product_tags/:id/`, {
    summary: 'Edit a tag',
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    body: TagForm.extend(formVersion),
    reply: Tag
  }),
  deleteTag: route('DELETE', `${P}/product_tags/:id/`, {
    summary: 'Delete a tag',
    access: 'admin',
    permission: 'products.change',
    params: IdParams,
    reply: Done
  })
}
