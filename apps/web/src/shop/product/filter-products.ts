import type { OfferedRule, Product, Variant } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { countryIn } from '@netlet/contract/places'
import type { Language } from '../../i18n/language.ts'
import { namesIn } from '../../i18n/names.ts'
import { countryName } from '../../kit/country.tsx'
import { lowest } from '../from-price.tsx'
import { activeVariants } from '../stock.tsx'
import { optionsOf, pickers } from './choice.ts'

const PLACE = /location|country|city|region|place|地区|地点|国家|城市|位置/i

/** The option that names a plan's location. */
export const placeOption = (product: Product) =>
  pickers(product, activeVariants(product)).find(({ label, values }) => PLACE.test(label) || values.every(countryIn))

const places = new Map<string, string>()
/** A place in a filter: its country (ISO 3166-1), or its own name if that names none. Finding it out takes 50 µs. */
function placeOf(name: string): string {
  const place = places.get(name) ?? countryIn(name) ?? name
  places.set(name, place)
  return place
}

/** All places of these products by their names in a language, sorted. */
export function placesOf(products: readonly Product[], language: Language): { value: string; label: string }[] {
  const names = namesIn(language)
  const labels = new Map(
    products.flatMap(product =>
      (placeOption(product)?.values ?? []).map(name => {
        const place = placeOf(name)
        return [place, place === name ? names.word(product, name) : countryName(place, language)] as const
      })
    )
  )
  return [...labels]
    .map(([value, label]) => ({ value, label }))
    .toSorted((one, other) => one.label.localeCompare(other.label, language))
}

export const PRODUCT_SORTS = ['featured', 'price', 'newest', 'name'] as const
export type ProductSort = (typeof PRODUCT_SORTS)[number]

/** `place`: '' for any. `most`: the highest price of one address, '' for any. `rules`: all that the plan must have. */
export type ProductFilters = { place: string; rules: readonly number[]; most: string; sort: ProductSort }

/** An amount such as '2' or '2.50'; '' for anything else. */
export const amountIn = (text: string): string =>
  /^\d{1,6}([.,]\d{1,2})?$/.test(text.trim()) ? text.trim().replace(',', '.') : ''

/** A product with the lowest price of the plans that match; null if none of them can be bought now. */
export type Offer = { product: Product; price: string | null }

type Prices = ReadonlyMap<number, string>

/** One address of a plan with these rules, or with its cheapest one; null if it cannot be bought, or a price is unknown. */
function priceOf(variant: Variant, rules: readonly number[], prices: Prices): string | null {
  if (rules.length === 0) return variant.from_price
  const added = rules.map(id => (variant.acl_ids.includes(id) ? prices.get(id) : undefined))
  return added.some(price => price === undefined)
    ? null
    : fromCents(added.reduce((sum, price) => sum + toCents(price ?? '0'), toCents(variant.variant_price)))
}

/** The products with a plan that fulfils all filters at once. */
export function offersOf(
  products: readonly Product[],
  { place, rules, most, sort }: ProductFilters,
  { offered, language }: { offered: readonly OfferedRule[]; language: Language }
): Offer[] {
  const prices = new Map(offered.map(rule => [rule.acl_id, rule.price]))
  const found = products.flatMap(product => {
    const option = placeOption(product)?.name
    const plans = activeVariants(product).flatMap(variant => {
      if (place && (!option || placeOf(optionsOf(variant)[option]) !== place)) return []
      if (rules.some(id => !variant.acl_ids.includes(id))) return []
      const price = priceOf(variant, rules, prices)
      return most && (price === null || toCents(price) > toCents(most)) ? [] : [price]
    })
    return plans.length > 0 ? [{ product, price: lowest(plans) }] : []
  })
  return sort === 'featured' ? found : found.toSorted(orders(language)[sort])
}

/** Without a price last. */
const centsOf = ({ price }: Offer): number => (price === null ? Infinity : Number(toCents(price)))
const orders = (language: Language): Record<Exclude<ProductSort, 'featured'>, (one: Offer, other: Offer) => number> => {
  const { product: nameOf } = namesIn(language)
  return {
    price: (one, other) => (centsOf(one) === centsOf(other) ? 0 : centsOf(one) - centsOf(other)),
    newest: (one, other) => Date.parse(other.product.created_at) - Date.parse(one.product.created_at),
    name: (one, other) => nameOf(one.product).localeCompare(nameOf(other.product), language, { numeric: true })
  }
}
