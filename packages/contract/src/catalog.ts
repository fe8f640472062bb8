import { z } from 'zod'
import { message } from './form-messages.ts'
import { PriceDrift } from './health.ts'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'
import { Done, Id, IdList, IdParams, Search, formVersion, optionalText, text } from './shapes.ts'
import {
  Collection,
  Tag,
  Product,
  PlatformProduct,
  ProductForm,
  ProductUpdate,
  OptionSelected,
  Selection,
  RuleStock,
  VariantInfo
} from './products.ts'

const P = '/api/products'

export const catalog = {
  products: route('GET', `${P}/products/`, {
    summary: 'Products; visitors and customers see the active ones',
    access: 'public',
    query: listQuery({
      sort: ['id'],
      filters: {
        /** The shop's list begins with the oldest, an administrator's with the newest. */
        sort_order: z.enum(['asc', 'desc'], { error: 'sort_order must be asc or desc' }).optional(),
        collection: Id.optional(),
        tags: IdList.optional(),
        id: Id.optional()
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
  platformProducts: route('GET', `${P}/products/get_product_from_shopify/`, {
    summary: "The platform's products that are not added yet",
    access: 'admin',
    query: z.object({ search: Search }),
    reply: z.array(PlatformProduct)
  }),
  createProduct: route('POST', `${P}/products/`, {
    summary: 'Add a product',
    access: 'admin',
    body: ProductForm,
    reply: Product
  }),
  updateProduct: route('PUT', `${P}/products/:id/`, {
    summary: 'Edit a product',
    access: 'admin',
    params: IdParams,
    body: ProductUpdate.extend(formVersion),
    reply: Product
  }),
  deleteProduct: route('DELETE', `${P}/products/:id/`, {
    summary: 'Remove a product from the shop; its orders stay',
    access: 'admin',
    params: IdParams,
    reply: Done
  }),
  rereadProducts: route('POST', `${P}/products/reread/`, {
    summary: 'Read all products again from the platform, in the background',
    access: 'admin',
    body: z.object({}).optional(),
    reply: z.object({ status: z.literal('queued') })
  }),
  priceDrift: route('GET', `${P}/price_drift/`, {
    summary: 'Prices that differ from those of the platform, as the last comparison found them',
    access: 'admin',
    query: listQuery({ sort: ['id'] }),
    reply: page(PriceDrift)
  }),
  takePlatformPrice: route('POST', `${P}/price_drift/:id/take/`, {
    summary: "Take the platform's present price",
    access: 'admin',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  }),
  writePlatformPrice: route('POST', `${P}/price_drift/:id/write/`, {
    summary: 'Write our price to the platform',
    access: 'admin',
    params: IdParams,
    body: z.object({}).optional(),
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
    params: IdParams,
    body: z.object({
      collection_name: text(message('enter_collection_name')),
      collection_desc: optionalText(5000),
      ...formVersion
    }),
    reply: Collection
  }),
  deleteCollection: route('DELETE', `${P}/product_collections/:id/`, {
    summary: 'Delete a collection',
    access: 'admin',
    params: IdParams,
    reply: Done
  }),
  syncCollections: route('GET', `${P}/product_collections/sync_collection/`, {
    summary: 'Take the collections from the platform',
    access: 'admin',
    reply: z.object({ created: z.number(), updated: z.number(), removed: z.number() })
  }),
  tags: route('GET', `${P}/product_tags/`, {
    summary: 'Tags',
    access: 'public',
    query: listQuery({ sort: ['name'], order: 'asc' }),
    reply: page(Tag)
  }),
  syncTags: route('GET', `${P}/product_tags/sync_tags/`, {
    summary: 'Take the tags from the platform',
    access: 'admin',
    reply: z.object({ created: z.number(), updated: z.number(), removed: z.number() })
  }),
  updateTag: route('PUT', `${P}/product_tags/:id/`, {
    summary: 'Edit a tag',
    access: 'admin',
    params: IdParams,
    body: z.object({ tag_name: text(message('enter_tag_name')), tag_desc: optionalText(2000), ...formVersion }),
    reply: Tag
  }),
  deleteTag: route('DELETE', `${P}/product_tags/:id/`, {
    summary: 'Delete a tag',
    access: 'admin',
    params: IdParams,
    reply: Done
  })
}
