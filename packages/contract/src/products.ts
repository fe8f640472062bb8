import { z } from 'zod'
import { AddressFamily, EgressMode } from './address-family.ts'
import { message } from './form-messages.ts'
import { CART_STEPS, Id, IdName, Money, MoneyInput, Time, optionalText, text } from './shapes.ts'
import { Translations, translationsForm, wordsForm } from './translations.ts'

export const Collection = z.object({
  id: z.number(),
  collection_name: z.string(),
  collection_desc: z.string(),
  shopify_collection_id: z.string(),
  image_url: z.string().nullable(),
  product_count: z.number(),
  translations: Translations,
  version: z.string()
})
export type Collection = z.infer<typeof Collection>

export const Tag = z.object({
  id: z.number(),
  tag_name: z.string(),
  tag_desc: z.string(),
  /** Only products that hold access rules carry it: visitors do not see it. */
  is_internal: z.boolean(),
  translations: Translations,
  version: z.string()
})
export type Tag = z.infer<typeof Tag>

/**
 * What a plan limits; null: nothing. `traffic_gb`: 10^9 bytes in both directions, for each address and term, for all of an
 * order's addresses together. The others are of an order, on each of its servers: megabits a second in each direction, open
 * connections, and new ones a second.
 */
export const PlanLimits = z.object({
  traffic_gb: z.number().nullable(),
  mbps: z.number().nullable(),
  connections: z.number().nullable(),
  connections_per_second: z.number().nullable()
})
export type PlanLimits = z.infer<typeof PlanLimits>

export const Variant = z.object({
  id: z.number(),
  variant_name: z.string(),
  variant_desc: z.string(),
  /** Addresses to be had now under the rule with most of them; at most some seconds old. */
  variant_stock: z.number(),
  cart_step: z.number(),
  variant_price: Money,
  is_active: z.boolean(),
  variant_option1: z.string().nullable(),
  variant_option2: z.string().nullable(),
  variant_option3: z.string().nullable(),
  server_group: IdName.nullable(),
  proxy_time: z.number(),
  address_family: AddressFamily,
  egress: EgressMode,
  /** Every server of its group also speaks TLS to proxy clients (`https://` proxies). */
  https: z.boolean(),
  ...PlanLimits.shape,
  shopify_variant_id: z.string(),
  /** The platform's price where it differs, for administrators: see the price drift. */
  price_drift: z.object({ id: z.number(), platform_price: Money }).nullable()
})
export type Variant = z.infer<typeof Variant>

export const VariantOption = z.object({
  option_name: z.string(),
  option_values: z.array(z.object({ option_value: z.string() }))
})

export const Product = z.object({
  id: z.number(),
  active: z.boolean(),
  valid: z.boolean(),
  /** On sale by its own link, and in no list. */
  unlisted: z.boolean(),
  /** Not valid only because the platform has it in no Online Store: a checkout would refuse it. */
  unpublished: z.boolean(),
  old_flag: z.boolean(),
  product_name: z.string(),
  shopify_product_id: z.string(),
  product_desc: z.string(),
  image_url: z.string().nullable(),
  lower_price: Money,
  product_collections: z.array(z.object({ id: z.number(), collection_name: z.string(), translations: Translations })),
  product_tags: z.array(z.object({ id: z.number(), tag_name: z.string(), translations: Translations })),
  variant_options: z.array(VariantOption),
  variants: z.array(Variant),
  created_at: Time,
  /** `words`: of its options, their values and the locations of its variants. */
  translations: Translations,
  version: z.string()
})
export type Product = z.infer<typeof Product>

/** A product as the platform has it, ready to be completed and added. */
export const PlatformProduct = z.object({
  shopify_product_id: z.string(),
  product_name: z.string(),
  product_desc: z.string(),
  image_url: z.string().nullable(),
  product_collections: z.array(z.object({ id: z.number(), collection_name: z.string() })),
  product_tags: z.array(z.object({ id: z.number(), tag_name: z.string() })),
  variant_options: z.array(VariantOption),
  variants: z.array(
    z.object({
      shopify_variant_id: z.string(),
      variant_name: z.string(),
      variant_price: Money,
      variant_option1: z.string().nullable(),
      variant_option2: z.string().nullable(),
      variant_option3: z.string().nullable()
    })
  )
})
export type PlatformProduct = z.infer<typeof PlatformProduct>

const option = optionalText(255).transform(value => value || null)

/** Days. */
const ProxyTime = z
  .int({ error: message('must_be_at_least', { min: 1 }) })
  .min(1, message('must_be_at_least', { min: 1 }))
  .max(3650, message('must_be_at_most', { max: 3650 }))

/** The most that each may be: more than any server carries. Null: nothing is limited; left out: as it is. */
const limit = (max: number) =>
  z
    .int({ error: message('must_be_at_least', { min: 1 }) })
    .min(1, message('must_be_at_least', { min: 1 }))
    .max(max, message('must_be_at_most', { max }))
    .nullish()

export const VariantForm = z.object({
  id: Id.optional(),
  shopify_variant_id: z.string().regex(/^\d{1,20}$/, message('must_be_variant_id')),
  variant_name: optionalText(),
  variant_desc: optionalText(),
  variant_price: MoneyInput(),
  cart_step: z.coerce.number().pipe(z.literal([...CART_STEPS], { error: message('must_be_cart_step') })),
  proxy_time: ProxyTime,
  /** `ipv4` of a new variant, and as it is of another one, where it is left out; orders keep what they were placed with. */
  address_family: AddressFamily.optional(),
  /** `fixed` is the only one of IPv4. */
  egress: EgressMode.optional(),
  traffic_gb: limit(1_000_000),
  mbps: limit(100_000),
  connections: limit(100_000),
  connections_per_second: limit(10_000),
  is_active: z.boolean().default(true),
  server_group: Id.nullish(),
  variant_option1: option,
  variant_option2: option,
  variant_option3: option
})

const optionForm = z.object({
  option_name: text(message('enter_option_name')),
  option_values: z.array(z.object({ option_value: text(message('enter_option_value')) })).max(250)
})

export const ProductForm = z.object({
  shopify_product_id: z.string({ error: message('select_product') }).regex(/^\d{1,20}$/, message('select_product')),
  product_name: text(message('enter_product_name')),
  product_desc: optionalText(20_000),
  translations: translationsForm({ name: optionalText(), desc: optionalText(20_000), words: wordsForm }),
  active: z.boolean().default(true),
  variants: z.array(VariantForm).min(1, message('add_variant')).max(250),
  variant_options: z.array(optionForm).max(3).default([]),
  product_collections: z.array(Id).max(100).default([]),
  product_tags: z.array(Id).max(100).default([])
})

export const ProductUpdate = ProductForm.omit({ variant_options: true, product_collections: true })
  .partial({ active: true, product_tags: true })
  .extend({
    id: Id.optional(),
    product_tags: z.array(Id).max(100).optional(),
    active: z.boolean().optional()
  })

export const OptionSelected = z.object({
  option1: optionalText(),
  option2: optionalText(),
  option3: optionalText()
})

/** Access rules chosen for an order: ids, each at most once (checked by the command, which says so). */
export const Selection = OptionSelected.extend({
  acl_selected: z
    .array(Id, { error: message('must_select') })
    .min(1, message('must_select'))
    .max(500, message('too_many_rules'))
})

export const RuleStock = z.object({
  acl_id: z.number(),
  acl_name: z.string(),
  price: Money,
  stock: z.number(),
  domains: z.array(z.string()),
  translations: Translations
})
export type RuleStock = z.infer<typeof RuleStock>

export const VariantInfo = z.object({
  /** base_price + acl_price, for one address. */
  price: Money,
  base_price: Money,
  acl_price: Money,
  /** Addresses free for all selected rules at once. */
  stock: z.number(),
  cart_step: z.number(),
  local_variant_id: z.number(),
  shopify_variant_id: z.string()
})
export type VariantInfo = z.infer<typeof VariantInfo>

/** What a refusal 'out_of_stock' of the checkout says in its `data`. */
export const Shortage = z.object({
  /** Addresses that the selected rules have together. */
  stock: z.number(),
  /** The rules that have too few by themselves; none where each has enough, but not of the same addresses. */
  short: z.array(z.object({ acl_id: z.number(), acl_name: z.string(), stock: z.number() }))
})
export type Shortage = z.infer<typeof Shortage>

/** What a variant could sell out of a server group, in blocks of one size. */
export const GroupStock = z.object({
  /** The largest block that a range of the group holds; 0 where it has none. */
  max_step: z.number(),
  /** Addresses under the rule with most of them. */
  stock: z.number(),
  rules: z.array(z.object({ acl_id: z.number(), acl_name: z.string(), stock: z.number() }))
})
export type GroupStock = z.infer<typeof GroupStock>

/** What a sync took from the platform: everything, or one kind. */
export const SYNC_KINDS = ['catalogue', 'collections', 'tags'] as const
export type SyncKind = (typeof SYNC_KINDS)[number]

/** `removed`: hidden, and off sale where it is a product. Of `visibility` the values are `internal`, `unlisted` and `shown`. */
const SyncChange = z.object({
  kind: z.enum(['created', 'updated', 'removed']),
  name: z.string(),
  fields: z.array(
    z.object({
      field: z.enum(['name', 'description', 'image', 'price', 'variant', 'visibility']),
      was: z.string(),
      is: z.string()
    })
  )
})
export type SyncChange = z.infer<typeof SyncChange>

const syncCounts = { created: z.number(), updated: z.number(), removed: z.number() }

/** What a sync with the platform would do. */
export const SyncPreview = z.object({
  ...syncCounts,
  /** Products that would be in other collections, or carry other tags. */
  products: z.number(),
  /** The first 200 of the changes. */
  changes: z.array(SyncChange)
})
export type SyncPreview = z.infer<typeof SyncPreview>

export const SYNC_PARTS = ['products', 'prices', 'collections', 'tags'] as const
export type SyncPart = (typeof SYNC_PARTS)[number]

/** What taking everything from the platform would do. */
export const CatalogPreview = z.object({
  parts: z.array(
    z.object({
      part: z.enum(SYNC_PARTS),
      ...syncCounts,
      /** The first 200. */
      changes: z.array(SyncChange)
    })
  ),
  /** Products that would be in other collections, or carry other tags. */
  products: z.number(),
  /** What never reaches visitors: products that hold access rules, and tags that only such products carry. */
  internal: z.array(
    z.object({
      kind: z.enum(['product', 'tag']),
      name: z.string(),
      /** Of a tag: the products that carry it. */
      because: z.array(z.string())
    })
  ),
  /** Products of the platform that are not here: to be added under Products, where a plan is made of each variant. */
  offered: z.array(z.object({ id: z.string(), name: z.string() }))
})
export type CatalogPreview = z.infer<typeof CatalogPreview>

/** The last sync that changed something. */
export const LastSync = z.object({
  id: z.number(),
  what: z.enum(SYNC_KINDS),
  /** Who asked for it; empty: the shop itself. */
  username: z.string(),
  created_at: Time,
  ...syncCounts,
  undone_at: Time.nullable(),
  /** What of it is another one by now, the first 20 and how many: it can only be undone while that is nothing. */
  changed: z.array(z.string()),
  changed_count: z.number()
})
export type LastSync = z.infer<typeof LastSync>

export const CollectionForm = z.object({
  collection_name: text(message('enter_collection_name')),
  collection_desc: optionalText(5000),
  translations: translationsForm({ name: optionalText(), desc: optionalText(5000) })
})
export type CollectionForm = z.output<typeof CollectionForm>

export const TagForm = z.object({
  tag_name: text(message('enter_tag_name')),
  tag_desc: optionalText(2000),
  translations: translationsForm({ name: optionalText(), desc: optionalText(2000) })
})
export type TagForm = z.output<typeof TagForm>
