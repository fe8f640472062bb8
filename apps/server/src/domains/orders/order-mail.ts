import { type Language, type Order, type Translations, inLanguage, planName, wordsInLanguage } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { users } from '../accounts/tables.ts'
import { products } from '../catalog/tables.ts'
import { orders } from './tables.ts'

/** A product's current name and translations. */
export type ProductName = { name: string; translations: Translations }

/** The product of an order as a column of a query, without its long description. */
export const productNameColumn = sql<ProductName>`(
  select jsonb_build_object('name', ${products.name}, 'translations', ${products.translations} #- '{zh-CN,desc}')
  from ${products} where ${products.id} = ${orders.productId})`

type Bought = { productName: string; variantName: string }

/**
 * The name of a bought plan in a language. If the product was renamed since, the name at the purchase stays, because
 * the translation belongs to the new name. The only variant of a product without options has the product's name.
 */
function planIn(language: Language, { productName, variantName }: Bought, product: ProductName) {
  const isSame = product.name === productName
  const product_name = isSame ? inLanguage(language, productName, product) : productName
  if (variantName === productName) return { product_name, variant_name: product_name }
  return { product_name, variant_name: isSame ? wordsInLanguage(language, variantName, product) : variantName }
}

type Rules = ReadonlyMap<number, ProductName>

export const rulesIn = (language: Language, rules: readonly number[], texts: Rules): string[] =>
  rules.map(id => {
    const rule = texts.get(id)
    return rule ? inLanguage(language, rule.name, rule) : `#${id}`
  })

/** An order's names in the other languages, if it has any. */
export function orderTranslations(order: Bought & { rules: number[] }, product: ProductName, texts: Rules) {
  const named = (language: Language) => ({
    ...planIn(language, order, product),
    acl_names: rulesIn(language, order.rules, texts)
  })
  const second = named('zh-CN')
  const isSame = JSON.stringify(second) === JSON.stringify(named('en'))
  return isSame ? {} : ({ translations: { 'zh-CN': second } } satisfies Pick<Order, 'translations'>)
}

/** The recipient of a mail about an order, and the data that all these mails share. */
export type OrderMailBase = {
  to: string
  language: Language
  data: { username: string; order_id: string; product_name: string }
}

const buyerColumns = { username: users.username, to: users.email, language: users.language }
type Buyer = { username: string; to: string; language: Language }

/** The columns that `orderMailFrom` needs from a query that joins orders and users. */
export const orderMailColumns = {
  ...buyerColumns,
  publicId: orders.publicId,
  productName: orders.productName,
  variantName: orders.variantName,
  product: productNameColumn
}
type Columns = Buyer & { publicId: string; productName: string; variantName: string; product: ProductName }

export function orderMailFrom({ username, to, language, publicId, product, ...bought }: Columns): OrderMailBase {
  return {
    to,
    language,
    data: { username, order_id: publicId, product_name: planName(planIn(language, bought, product)) }
  }
}

/** The same for one order; null if the user was deleted. */
export async function orderMail(db: Executor, orderId: number): Promise<OrderMailBase | null> {
  const [row] = await db
    .select(orderMailColumns)
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(and(eq(orders.id, orderId), isNull(users.deletedAt)))
  return row ? orderMailFrom(row) : null
}

/** The buyer of an order that is about to be placed. */
export async function buyerOf(db: Executor, userId: number): Promise<Buyer> {
  const [buyer] = await db.select(buyerColumns).from(users).where(eq(users.id, userId))
  if (!buyer) throw new Error(`There is no user ${userId}`)
  return buyer
}
