import { inLanguage, wordsInLanguage, type Language, type Order, type Translations } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { products } from '../catalog/tables.ts'
import { orders } from './tables.ts'

/** A product's current name and translations. */
export type Called = { name: string; translations: Translations }

/** The product of an order as a column of a query, without its long description. */
export const calledColumn = sql<Called>`(
  select jsonb_build_object('name', ${products.name}, 'translations', ${products.translations} #- '{zh-CN,desc}')
  from ${products} where ${products.id} = ${orders.productId})`

type Bought = { productName: string; variantName: string }

/**
 * The name of a bought plan in a language. If the product was renamed since, the name at the purchase stays, because
 * the translation belongs to the new name.
 */
export function planIn(language: Language, { productName, variantName }: Bought, product: Called) {
  if (product.name !== productName) return { product_name: productName, variant_name: variantName }
  return {
    product_name: inLanguage(language, productName, product),
    variant_name: wordsInLanguage(language, variantName, product)
  }
}

type Rules = ReadonlyMap<number, Called>

export const rulesIn = (language: Language, rules: readonly number[], texts: Rules): string[] =>
  rules.map(id => {
    const rule = texts.get(id)
    return rule ? inLanguage(language, rule.name, rule) : `#${id}`
  })

/** An order's names in the other languages, if it has any. */
export function orderTranslations(order: Bought & { rules: number[] }, product: Called, texts: Rules) {
  const named = (language: Language) => ({
    ...planIn(language, order, product),
    acl_names: rulesIn(language, order.rules, texts)
  })
  const second = named('zh-CN')
  const isSame = JSON.stringify(second) === JSON.stringify(named('en'))
  return isSame ? {} : ({ translations: { 'zh-CN': second } } satisfies Pick<Order, 'translations'>)
}
