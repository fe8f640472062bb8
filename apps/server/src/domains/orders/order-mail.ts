import type { Language } from '@netlet/contract'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { users } from '../accounts/tables.ts'
import { calledColumn, planIn, type Called } from './plan-names.ts'
import { orders } from './tables.ts'

/** The recipient of a mail about an order, and the data that all these mails share. */
export type OrderMail = {
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
  product: calledColumn
}
type Columns = Buyer & { publicId: string; productName: string; variantName: string; product: Called }

export function orderMailFrom({ username, to, language, publicId, product, ...bought }: Columns): OrderMail {
  const { product_name, variant_name } = planIn(language, bought, product)
  return { to, language, data: { username, order_id: publicId, product_name: `${product_name} · ${variant_name}` } }
}

/** The same for one order; null if the user was deleted. */
export async function orderMail(db: Executor, orderId: number): Promise<OrderMail | null> {
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
