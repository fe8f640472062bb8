import type { Product, RuleStock, Variant } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'

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

/** The initial choice: the first one that can be had. */
export const firstVariant = (variants: readonly Variant[]) =>
  variants.find(variant => variant.variant_stock >= variant.cart_step) ?? variants[0]

/** The pickers of a product: for each option, its values that lead to a variant on sale. */
export function pickers(product: Product, variants: readonly Variant[]) {
  return NAMES.flatMap((name, index) => {
    const values = [...new Set(variants.map(variant => optionsOf(variant)[name]).filter(Boolean))]
    const declared = product.variant_options[index]
    const order = declared?.option_values.map(value => value.option_value) ?? []
    values.sort((one, other) => order.indexOf(one) - order.indexOf(other))
    return values.length > 0 ? [{ name, label: declared?.option_name ?? '', values }] : []
  })
}

/** The options after `value` was picked: the others stay where that leads to a variant, and give way where not. */
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

/** A quantity that can be ordered: whole steps, at least one, at most what there is. */
export function wholeSteps(quantity: number, step: number, stock: number): number {
  const most = Math.max(step, Math.floor(stock / step) * step)
  const asked = Number.isFinite(quantity) ? Math.round(quantity / step) * step : step
  return Math.min(most, Math.max(step, asked))
}

/** quantity × price, exact. */
export const total = (price: string, quantity: number) => fromCents(toCents(price) * BigInt(quantity))

/** The price of one address with these rules. */
export const withRules = (base: string, rules: readonly Pick<RuleStock, 'price'>[]) =>
  fromCents(rules.reduce((sum, rule) => sum + toCents(rule.price), toCents(base)))

/** A choice in the address, so that a visitor finds it again after the login. */
export function choiceQuery(choice: { options: Options; rules: readonly number[]; quantity: number }): string {
  const query = new URLSearchParams()
  NAMES.forEach((name, index) => {
    if (choice.options[name]) query.set(`o${index + 1}`, choice.options[name])
  })
  if (choice.rules.length > 0) query.set('acl', choice.rules.join(','))
  query.set('q', String(choice.quantity))
  return query.toString()
}

export function readChoice(query: URLSearchParams) {
  const rules = (query.get('acl') ?? '').split(',').map(Number)
  return {
    options: { option1: query.get('o1') ?? '', option2: query.get('o2') ?? '', option3: query.get('o3') ?? '' },
    rules: rules.filter(id => Number.isSafeInteger(id) && id > 0),
    quantity: Number(query.get('q') ?? 0)
  }
}
