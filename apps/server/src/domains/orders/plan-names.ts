import { inLanguage, wordsInLanguage, type Language, type Order, type Translations } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { products } from '../catalog/tables.ts'
import { orders } from './tables.ts'

/** A product as it is called today. */
export type Called = { name: string; translations: Translations }

/** The product of an order, for a query that joins orders and others; without the long texts, which no order shows. */
export const calledColumn = sql<Called>`(
  select jsonb_build_object('name', ${products.name}, 'translations', ${products.translations} #- '{zh-CN,desc}')
  from ${products} where ${products.id} = ${orders.productId})`

type Bought = { productName: string; variantName: string }

/**
 * What a plan that was bought is called in a language. One that was renamed since is called as it was bought: what the new
 * name means in another language was not sold.
 */
export function planIn(language: Language, { productName, variantName }: Bought, product: Called) {
  if (product.name !== productName) return { product_name: productName, variant_name: variantName }
  return {
    product_name: inLanguage(language, productName, product),
    variant_name: wordsInLanguage(language, variantName, product)
  }
}

type Rules = ReadonlyMap<number, Called>

/** The names of an order's rules, in a language. */
export const rulesIn = (language: Language, rules: readonly number[], texts: Rules): string[] =>
  rules.map(id => {
    const rule = texts.get(id)
    return rule ? inLanguage(language, rule.name, rule) : `#${id}`
  })

/** For the wire: an order's names in another language, where there are any. */
export function orderTranslations(order: Bought & { rules: number[] }, product: Called, texts: Rules) {
  const named = (language: Language) => ({
    ...planIn(language, order, product),
    acl_names: rulesIn(language, order.rules, texts)
  })
  const second = named('zh-CN')
  const isSame = JSON.stringify(second) === JSON.stringify(named('en'))
  return isSame ? {} : ({ translations: { 'zh-CN': second } } satisfies Pick<Order, 'translations'>)
}
