import type { Product, RuleStock, Variant } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { type AddressChange, numberIn, numberOf, useAddress } from '../../kit/use-address.ts'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { activeVariants } from '../stock.tsx'

export type Options = { option1: string; option2: string; option3: string }
const NAMES = ['option1', 'option2', 'option3'] as const

export const optionsOf = (variant: Variant): Options => ({
  option1: variant.variant_option1 ?? '',
  option2: variant.variant_option2 ?? '',
  option3: variant.variant_option3 ?? ''
})

const same = (one: Options, other: Options) => NAMES.every(name => one[name] === other[name])

export const findVariant = (variants: readonly Variant[], options: Options) =>
  variants.find(variant => same(optionsOf(variant), options))

/** The initial variant: the first one in stock. */
export const firstVariant = (variants: readonly Variant[]) =>
  variants.find(variant => variant.variant_stock >= variant.cart_step) ?? variants[0]

/** The options of a product, each with the values that lead to a variant on sale. */
export function pickers(product: Product, variants: readonly Variant[]) {
  return NAMES.flatMap((name, index) => {
    const values = [...new Set(variants.map(variant => optionsOf(variant)[name]).filter(Boolean))]
    const declared = product.variant_options[index]
    const order = declared?.option_values.map(value => value.option_value) ?? []
    values.sort((one, other) => order.indexOf(one) - order.indexOf(other))
    return values.length > 0 ? [{ name, label: declared?.option_name ?? '', values }] : []
  })
}

/** The options after picking `value`. Others stay if a variant has them, else they change. */
export function pick(variants: readonly Variant[], options: Options, name: keyof Options, value: string): Options {
  const wanted = { ...options, [name]: value }
  if (findVariant(variants, wanted)) return wanted
  const kept = (variant: Variant) => {
    const own = optionsOf(variant)
    return NAMES.filter(key => own[key] === wanted[key]).length
  }
  const fitting = variants.filter(variant => optionsOf(variant)[name] === value)
  const best = fitting.toSorted((one, other) => kept(other) - kept(one))[0]
  return best ? optionsOf(best) : options
}

/** The nearest quantity that can be ordered: whole steps, at least one, at most the limit. */
export function wholeSteps(quantity: number, step: number, most: number): number {
  const last = Math.max(step, Math.floor(most / step) * step)
  const asked = Number.isFinite(quantity) ? Math.round(quantity / step) * step : step
  return Math.min(last, Math.max(step, asked))
}

/** Parses a typed quantity: `1,000` and `1.000` are a thousand, `8.5` is not 85. NaN if it is no number. */
export function typedNumber(text: string): number {
  return /^\d{1,3}([.,]\d{3})+$/.test(text)
    ? Number(text.replaceAll(/[.,]/g, ''))
    : Number.parseFloat(text.replace(',', '.'))
}

/** quantity × price, exact. */
export const total = (price: string, quantity: number) => fromCents(toCents(price) * BigInt(quantity))

/** The price of one address with these rules. */
export const withRules = (base: string, rules: readonly Pick<RuleStock, 'price'>[]) =>
  fromCents(rules.reduce((sum, rule) => sum + toCents(rule.price), toCents(base)))

/** Largest number of quantity buttons. */
const OFFERED = 8

/** Quantities for the buttons: 1, 2, 4, 8 … steps, up to the limit. */
export function presets(step: number, most: number): number[] {
  const doubled = Array.from({ length: OFFERED }, (_, at) => step * 2 ** at)
  return doubled.filter(quantity => quantity <= most)
}

/** The choice for a product. `quantity`: 0 if none was chosen. */
export type Wanted = { options: Options; rules: number[]; quantity: number }

/** The request for the price of a choice. */
export const selectionOf = (product: Pick<Product, 'id'>, options: Options, rules: number[]) => ({
  body: { product_id: product.id, option_selected: { ...options, acl_selected: rules } }
})

/** The address parameters of a part of the choice, so that it can be shared, reloaded and restored after the login. */
export function parametersOf({ options, rules, quantity }: Partial<Wanted>): AddressChange {
  return {
    ...(options && Object.fromEntries(NAMES.map((name, index) => [`o${index + 1}`, options[name] || null]))),
    ...(rules && { acl: rules.join(',') || null }),
    ...(quantity !== undefined && { q: quantity || null })
  }
}

/** The choice as a link's query. */
export function choiceQuery(choice: Wanted): string {
  const set = Object.entries(parametersOf(choice)).filter(([, value]) => value !== null)
  return new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
}

/** The contract's limits for an order: rules and addresses. */
const MOST_RULES = 500
export const MOST_ADDRESSES = 999_999_999

/** The choice in an address. Anyone can write an address, so ignore impossible values. */
export function readChoice(query: URLSearchParams): Wanted {
  const rules = (query.get('acl') ?? '').split(',').flatMap(id => numberOf(id) ?? [])
  return {
    options: { option1: query.get('o1') ?? '', option2: query.get('o2') ?? '', option3: query.get('o3') ?? '' },
    rules: [...new Set(rules)].slice(0, MOST_RULES),
    quantity: numberIn(query, 'q', MOST_ADDRESSES) ?? 0
  }
}

/**
 * What is being ordered, kept in the address. `info` is the server's price and stock with the confirmed rules. Options
 * are locked while rules are confirmed.
 */
export function useChoice(product: Product) {
  const variants = activeVariants(product)
  const first = firstVariant(variants)
  if (!first) throw new Error('a product without variants cannot be ordered')
  const { query, change: changeAddress } = useAddress()
  const { options: asked, rules, quantity: said } = useMemo(() => readChoice(query), [query])
  // Replace the history entry, so that Back leaves the page.
  const change = (part: Partial<Wanted>) => changeAddress(parametersOf(part))

  const variant = findVariant(variants, asked) ?? first
  const options = optionsOf(variant)
  const isSoldOut = variant.variant_stock < variant.cart_step
  const selection = selectionOf(product, options, rules)
  const check = useQuery({ ...read(catalog.variantInfo, selection), enabled: rules.length > 0 })
  const info = rules.length > 0 ? (check.data ?? null) : null
  const offered = useQuery({
    ...read(catalog.ruleStock, { body: { product_id: product.id, option_selected: options } }),
    enabled: !isSoldOut
  })

  // Do not retry a choice that can no longer be ordered. A busy server (429 and above) may be retried.
  const refused = check.error instanceof ApiError && check.error.kind === 'refused' && check.error.status < 429
  const [wereRefused, setRefused] = useState(false)
  const [before, setBefore] = useState<number[]>([])
  useEffect(() => {
    if (!refused) return
    setRefused(true)
    setBefore(rules)
    change({ rules: [] })
    // oxlint-disable-next-line react/exhaustive-deps -- once for each refusal
  }, [refused])

  // Without the limit, the server refuses orders that are too large.
  const { data: limits } = useQuery({ ...read(orders.limits), staleTime: Infinity })
  const stock = info?.stock ?? variant.variant_stock
  const limit = limits?.addresses ?? Infinity
  const most = Math.min(stock, limit)
  const wanted = said || variant.cart_step
  return {
    variant,
    options,
    rules,
    info,
    check,
    /** Each rule with price and stock; undefined while loading. */
    offered: offered.data,
    /** Rules to preselect: the confirmed ones, or the last confirmed. */
    suggested: rules.length > 0 ? rules : before,
    wereRefused,
    isSoldOut,
    stock,
    /** The most addresses of one order, for any plan. */
    limit,
    /** The most addresses of this order. */
    most,
    wanted,
    quantity: wholeSteps(wanted, variant.cart_step, most),
    setQuantity: (quantity: number) => change({ quantity }),
    pickOption: (name: keyof Options, value: string) => change({ options: pick(variants, options, name, value) }),
    lock: (ids: number[]) => {
      setRefused(false)
      change({ options, rules: ids })
    },
    unlock: () => {
      setBefore(rules)
      change({ rules: [] })
    }
  }
}

export type Choice = ReturnType<typeof useChoice>
