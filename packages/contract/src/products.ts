import { z } from 'zod'
import { AddressFamily, EgressMode } from './address-family.ts'
import { message } from './form-messages.ts'
import { CART_STEPS, Id, IdName, Money, MoneyInput, PlatformStock, Time, optionalText, text } from './shapes.ts'
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
  /** Carried only by products for access rules, so visitors do not see it. */
  is_internal: z.boolean(),
  translations: Translations,
  version: z.string()
})
export type Tag = z.infer<typeof Tag>

/**
 * A plan's limits; null: unlimited. `traffic_gb`: 10^9 bytes in both directions per address and term, shared by the
 * order's addresses. The others apply per order and server: megabits per second in each direction, open connections,
 * new connections per second.
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
  /** Addresses available now under the rule with the most; a few seconds old. */
  variant_stock: z.number(),
  /** The access rules that have addresses for it, as old as the stock. */
  acl_ids: z.array(z.number()),
  /** One address with the cheapest of these rules, because an order needs one; null if there is none. */
  from_price: Money.nullable(),
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
  /** Every server of its group also offers TLS (`https://` proxies). */
  https: z.boolean(),
  ...PlanLimits.shape,
  shopify_variant_id: z.string(),
  /** For administrators only, others see 'none'. */
  platform_stock: PlatformStock,
  /** The platform's checkout asks for an address and a shipping rate. For administrators only, others see false. */
  shipped: z.boolean(),
  /** The platform's price if it differs, for administrators only: see the price drift. */
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
  /** On sale through its link only, in no list. */
  unlisted: z.boolean(),
  /** Invalid only because it is not in the platform's Online Store, so a checkout would refuse it. */
  unpublished: z.boolean(),
  /** Invalid, because the platform sells it with a selling plan only, which checkout links cannot buy. */
  subscription_only: z.boolean(),
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
  /** `words`: of options, their values and locations. */
  translations: Translations,
  version: z.string()
})
export type Product = z.infer<typeof Product>

/** A product on the platform, ready to be completed and added. */
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

/** `max` is more than any server can carry. Null: unlimited; missing: unchanged. */
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
  /** Default: `ipv4` for a new variant, unchanged for others. Orders keep theirs. */
  address_family: AddressFamily.optional(),
  /** IPv4 supports only `fixed`. */
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

/** The platform's limit for a product. */
const MOST_VARIANTS = 2048

const optionForm = z.object({
  option_name: text(message('enter_option_name')),
  option_values: z.array(z.object({ option_value: text(message('enter_option_value')) })).max(MOST_VARIANTS)
})

export const ProductForm = z.object({
  shopify_product_id: z.string({ error: message('select_product') }).regex(/^\d{1,20}$/, message('select_product')),
  product_name: text(message('enter_product_name')),
  product_desc: optionalText(20_000),
  translations: translationsForm({ name: optionalText(), desc: optionalText(20_000), words: wordsForm }),
  active: z.boolean().default(true),
  variants: z.array(VariantForm).min(1, message('add_variant')).max(MOST_VARIANTS),
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

/** The access rules of an order: ids without duplicates (the command checks this). */
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
  /** Addresses free for all selected rules together. */
  stock: z.number(),
  cart_step: z.number(),
  local_variant_id: z.number(),
  shopify_variant_id: z.string()
})
export type VariantInfo = z.infer<typeof VariantInfo>

/** The `data` of the checkout's refusal 'out_of_stock'. */
export const Shortage = z.object({
  /** Addresses available under all selected rules together. */
  stock: z.number(),
  /** Rules with too few addresses; empty if each has enough, but not the same ones. */
  short: z.array(z.object({ acl_id: z.number(), acl_name: z.string(), stock: z.number() }))
})
export type Shortage = z.infer<typeof Shortage>

/** What a variant could sell from a server group with blocks of one size. */
export const GroupStock = z.object({
  /** The largest block in a range of the group; 0 if none. */
  max_step: z.number(),
  /** Addresses under the rule with the most. */
  stock: z.number(),
  rules: z.array(z.object({ acl_id: z.number(), acl_name: z.string(), stock: z.number() }))
})
export type GroupStock = z.infer<typeof GroupStock>

/** What a sync reads: everything, or one kind. */
export const SYNC_KINDS = ['catalogue', 'collections', 'tags'] as const
export type SyncKind = (typeof SYNC_KINDS)[number]

/** `removed`: hidden, and for products off sale. Values of `visibility`: `internal`, `unlisted`, `shown`. */
const SyncChange = z.object({
  kind: z.enum(['created', 'updated', 'removed']),
  name: z.string(),
  fields: z.array(
    z.object({
      field: z.enum(['name', 'description', 'image', 'options', 'price', 'variant', 'visibility']),
      was: z.string(),
      is: z.string()
    })
  )
})
export type SyncChange = z.infer<typeof SyncChange>

const syncCounts = { created: z.number(), updated: z.number(), removed: z.number() }

export const SyncPreview = z.object({
  ...syncCounts,
  /** Products whose collections or tags would change. */
  products: z.number(),
  /** The first 200 changes. */
  changes: z.array(SyncChange)
})
export type SyncPreview = z.infer<typeof SyncPreview>

export const SYNC_PARTS = ['products', 'prices', 'collections', 'tags'] as const
export type SyncPart = (typeof SYNC_PARTS)[number]

/** What a sync of the whole catalogue would do. */
export const CatalogPreview = z.object({
  parts: z.array(
    z.object({
      part: z.enum(SYNC_PARTS),
      ...syncCounts,
      /** The first 200. */
      changes: z.array(SyncChange)
    })
  ),
  /** Products whose collections or tags would change. */
  products: z.number(),
  /** Hidden from visitors: products for access rules, and tags that only such products carry. */
  internal: z.array(
    z.object({
      kind: z.enum(['product', 'tag']),
      name: z.string(),
      /** For a tag: the products that carry it. */
      because: z.array(z.string())
    })
  ),
  /** Products of the platform that the shop does not have. Add them under Products. */
  offered: z.array(z.object({ id: z.string(), name: z.string() }))
})
export type CatalogPreview = z.infer<typeof CatalogPreview>

/** The last sync that changed something. */
export const LastSync = z.object({
  id: z.number(),
  what: z.enum(SYNC_KINDS),
  /** Who started it; empty: the shop itself. */
  username: z.string(),
  created_at: Time,
  ...syncCounts,
  undone_at: Time.nullable(),
  /** What has changed since: the first 20, and the total. It can be undone only if this is empty. */
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
