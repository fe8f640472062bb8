import { eq } from 'drizzle-orm'
import type { Unit } from '../../../infra/command.ts'
import { users } from '../../accounts/tables.ts'
import { enqueueMail } from '../../mail/index.ts'
import { orders } from '../../orders/tables.ts'

/** Tells the customer that addresses of an order change. */
export async function announceMove(unit: Unit, orderId: number, addresses: number): Promise<void> {
  const customer = await customerOf(unit, orderId)
  if (!customer) return
  enqueueMail(unit, {
    to: customer.email,
    language: customer.language,
    template: 'addresses-changed',
    data: {
      username: customer.username,
      order_id: customer.publicId,
      product_name: customer.productName,
      addresses
    },
    key: `moved:${orderId}:${unit.now.toISOString()}`
  })
}

/** Whom a mail about an order goes to, and what it calls the order. */
export async function customerOf({ tx }: Unit, orderId: number) {
  const [row] = await tx
    .select({
      username: users.username,
      email: users.email,
      language: users.language,
      publicId: orders.publicId,
      product: orders.productName,
      variant: orders.variantName
    })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(eq(orders.id, orderId))
  if (!row) return undefined
  const { product, variant, ...rest } = row
  return { ...rest, productName: `${product} · ${variant}` }
}
