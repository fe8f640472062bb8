import type { AddressFamily, BodyOf, EgressMode, PlatformProduct, Product } from '@netlet/contract'
import type { catalog } from '../../api/routes.ts'
import { merge, withValue, type Clash } from '../../kit/merge.ts'

/** A variant during editing, with its texts as typed. */
export type VariantDraft = {
  /** Undefined for a variant of the platform that is new here. */
  id: number | undefined
  shopify_variant_id: string
  variant_name: string
  variant_desc: string
  variant_price: string
  cart_step: string
  proxy_time: string
  address_family: AddressFamily
  egress: EgressMode
  traffic_gb: string
  mbps: string
  connections: string
  connections_per_second: string
  is_active: boolean
  server_group: number | null
  variant_option1: string | null
  variant_option2: string | null
  variant_option3: string | null
}

/** The product's Chinese texts; `words` maps each option and location to its translation. */
export type TranslationDraft = { name: string; desc: string; words: Record<string, string> }

export type Draft = {
  product_name: string
  product_desc: string
  translation: TranslationDraft
  active: boolean
  product_collections: number[]
  product_tags: number[]
  variants: VariantDraft[]
}

/** The default lease of a new variant, in days. */
const TERM = '30'

/** A new variant of the platform. It is on sale once it has a server group. */
export const newVariant = (variant: PlatformProduct['variants'][number]): VariantDraft => ({
  ...variant,
  id: undefined,
  variant_desc: '',
  cart_step: '1',
  proxy_time: TERM,
  address_family: 'ipv4',
  egress: 'fixed',
  traffic_gb: '',
  mbps: '',
  connections: '',
  connections_per_second: '',
  is_active: true,
  server_group: null
})

export const draftOfPlatform = (product: PlatformProduct): Draft => ({
  product_name: product.product_name,
  product_desc: product.product_desc,
  translation: { name: '', desc: '', words: {} },
  active: true,
  product_collections: product.product_collections.map(({ id }) => id),
  product_tags: product.product_tags.map(({ id }) => id),
  variants: product.variants.map(newVariant)
})

export const draftOf = (product: Product): Draft => ({
  product_name: product.product_name,
  product_desc: product.product_desc,
  translation: { name: '', desc: '', words: {}, ...product.translations?.['zh-CN'] },
  active: product.active,
  product_collections: product.product_collections.map(({ id }) => id),
  product_tags: product.product_tags.map(({ id }) => id),
  variants: product.variants.map(variant => ({
    id: variant.id,
    shopify_variant_id: variant.shopify_variant_id,
    variant_name: variant.variant_name,
    variant_desc: variant.variant_desc,
    variant_price: variant.variant_price,
    cart_step: String(variant.cart_step),
    proxy_time: String(variant.proxy_time),
    address_family: variant.address_family,
    egress: variant.egress,
    traffic_gb: String(variant.traffic_gb ?? ''),
    mbps: String(variant.mbps ?? ''),
    connections: String(variant.connections ?? ''),
    connections_per_second: String(variant.connections_per_second ?? ''),
    is_active: variant.is_active,
    server_group: variant.server_group?.id ?? null,
    variant_option1: variant.variant_option1,
    variant_option2: variant.variant_option2,
    variant_option3: variant.variant_option3
  }))
})

/** Empty means no limit. NaN is refused by the schema. */
const limitOf = (text: string) => (text.trim() === '' ? null : Number(text))

/** A variant as sent to the server. An empty number of days is null, not 0. */
export const sentVariant = ({ id, cart_step, proxy_time, ...variant }: VariantDraft) => ({
  ...(id === undefined ? {} : { id }),
  ...variant,
  variant_option1: variant.variant_option1 ?? '',
  variant_option2: variant.variant_option2 ?? '',
  variant_option3: variant.variant_option3 ?? '',
  traffic_gb: limitOf(variant.traffic_gb),
  mbps: limitOf(variant.mbps),
  connections: limitOf(variant.connections),
  connections_per_second: limitOf(variant.connections_per_second),
  cart_step: Number(cart_step),
  proxy_time: proxy_time.trim() === '' ? Number.NaN : Number(proxy_time)
})

type Options = Product['variant_options']

/** All words that customers choose by, without duplicates: option names, option values and locations. */
export function wordsOf({ variants }: Pick<Draft, 'variants'>, options: Options): string[] {
  const values = variants.flatMap(one => [
    one.variant_option1 ?? '',
    one.variant_option2 ?? '',
    one.variant_option3 ?? '',
    one.variant_desc.trim()
  ])
  return [...new Set([...options.map(({ option_name }) => option_name), ...values])].filter(Boolean)
}

/** Drop translations of words that the product no longer has. */
function sentTranslation(draft: Draft, options: Options) {
  const { name, desc, words } = draft.translation
  const kept = wordsOf(draft, options).flatMap(word => (Object.hasOwn(words, word) ? [[word, words[word]]] : []))
  return { 'zh-CN': { name, desc, words: Object.fromEntries(kept) as Record<string, string> } }
}

type CreateBody = BodyOf<typeof catalog.createProduct>
type UpdateBody = BodyOf<typeof catalog.updateProduct>

export const createBody = (whole: Draft, source: PlatformProduct): CreateBody => {
  const { translation: _sent, ...draft } = whole
  return {
    ...draft,
    translations: sentTranslation(whole, source.variant_options),
    shopify_product_id: source.shopify_product_id,
    variant_options: source.variant_options,
    variants: draft.variants.map(sentVariant)
  }
}

export const updateBody = (whole: Draft, product: Product): UpdateBody => {
  const { product_collections: _fixed, translation: _sent, ...draft } = whole
  return {
    ...draft,
    translations: sentTranslation(whole, product.variant_options),
    shopify_product_id: product.shopify_product_id,
    variants: draft.variants.map(sentVariant),
    version: product.version
  }
}

/** A draft with its variants by platform id, so that each is merged separately. */
type Parts = Omit<Draft, 'variants'> & { variants: Record<string, VariantDraft> }

const partsOf = (draft: Draft): Parts => ({
  ...draft,
  variants: Object.fromEntries(draft.variants.map(variant => [variant.shopify_variant_id, variant]))
})

/** Variants in the saved order, then new ones. A variant that was removed from the saved product counts as new. */
function draftFrom(parts: Parts, saved: Draft, mine: Draft): Draft {
  const ids = [...saved.variants, ...mine.variants].map(({ shopify_variant_id }) => shopify_variant_id)
  const variants = [...new Set(ids)].flatMap(id => {
    const variant = parts.variants[id]
    return variant ? [{ ...variant, id: saved.variants.find(one => one.shopify_variant_id === id)?.id }] : []
  })
  return { ...parts, variants }
}

/** Merges the entered draft with what another user saved since `start`. */
export function mergeDrafts(start: Draft, mine: Draft, theirs: Draft) {
  const { values, ...changes } = merge(partsOf(start), partsOf(mine), partsOf(theirs))
  return { draft: draftFrom(values, theirs, mine), ...changes }
}

/** The draft with one value replaced by the saved one. */
export const withTheirs = (draft: Draft, saved: Draft, { path, theirs }: Clash): Draft =>
  draftFrom(withValue(partsOf(draft), path, theirs), saved, draft)
