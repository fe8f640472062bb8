import { fromCents, refuse, RESERVATION_MINUTES, toCents } from '@netlet/contract'
import { and, eq, gt } from 'drizzle-orm'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import type { UserActor } from '../../infra/actor.ts'
import { ok, type Result } from '../../infra/result.ts'
import { randomCode } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { priceSelection, type OptionChoice } from '../catalog/index.ts'
import { openPlatform } from '../commerce/index.ts'
import { reserve } from '../inventory/index.ts'
import { discountCodeFor } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { orders, type OrderLine } from './tables.ts'
import { note } from './transition.ts'

export type Placing = {
  productId: number
  quantity: number
  options: OptionChoice
  /** Ids of the selected access rules. */
  rules: number[]
}

export type Placed = { checkout_url: string; order_id: string; expires_at: string }

/**
 * Places an order: prices it, holds its addresses for 30 minutes and tells where to pay. Nothing is written when it is
 * refused.
 */
export async function placeOrder(ctx: AppContext, caller: UserActor, placing: Placing): Promise<Result<Placed>> {
  // Nor through a customer's eyes: the customer would owe what an administrator chose.
  if (caller.isSuperuser || caller.impersonator !== null) return refuse('admin_purchase')
  const priced = await price(ctx, placing)
  if (!priced.ok) return priced
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const { variant, rules, basePrice, aclPrice, amount, lines } = priced.data

  return command(ctx, caller, async unit => {
    const { tx, now } = unit
    const settings = await readSettings(tx, ctx.secrets)
    const discountCode = await discountCodeFor(tx, caller.id)
    const reservedUntil = new Date(now.getTime() + RESERVATION_MINUTES * MINUTE)
    // Two orders of one customer at once must not both be the last that is allowed.
    await lock(tx, 'customerOrders', caller.id)
    const held = await tx.$count(
      orders,
      and(eq(orders.userId, caller.id), eq(orders.state, 'placed'), gt(orders.reservedUntil, now))
    )
    if (held >= settings.max_unpaid_orders) return refuse('too_many_reservations', { data: { held } })

    const publicId = `NL-${randomCode(16)}`
    const checkoutUrl = platform.data.checkoutUrl({
      lines: lines.map(line => ({ variantId: line.variant, quantity: line.quantity })),
      email: await emailOf(tx, caller.id),
      note: `Order ${publicId}`,
      attributes: { order_id: publicId },
      ...(discountCode ? { discountCodes: [discountCode] } : {})
    })
    if (!checkoutUrl) return refuse('platform_not_configured')
    const [order] = await tx
      .insert(orders)
      .values({
        publicId,
        userId: caller.id,
        productId: variant.productId,
        variantId: variant.variantId,
        serverGroupId: variant.groupId,
        productName: variant.productName,
        variantName: variant.variantName,
        quantity: placing.quantity,
        cartStep: variant.step,
        proxyTime: variant.proxyTime,
        variantPrice: basePrice,
        aclPrice,
        amount,
        rules,
        lines,
        checkoutUrl,
        discountCode,
        reservedUntil,
        createdAt: now,
        proxyUsername: `u${randomCode(9)}`,
        proxyPassword: randomCode(14)
      })
      .returning({ id: orders.id })
    if (!order) throw new Error('The order was not inserted')
    unit.publish('order', order.id, caller.id)
    await note(unit, order.id, 'placed', { amount, reserved_until: reservedUntil.toISOString() })
    // Last: it takes the locks that other buyers wait for.
    const lease = await reserve(tx, {
      orderId: order.id,
      groupId: variant.groupId,
      step: variant.step,
      rules,
      quantity: placing.quantity
    })
    if (!lease.ok) return refuse(lease.reason)
    return ok({ checkout_url: checkoutUrl, order_id: publicId, expires_at: reservedUntil.toISOString() })
  })
}

/** The server's own price, exact, and whether the quantity is one that is sold. */
async function price(ctx: Pick<AppContext, 'db'>, placing: Placing) {
  const priced = await priceSelection(ctx.db, placing)
  if (!priced.ok) return priced
  const { step } = priced.data.variant
  if (placing.quantity < step || placing.quantity % step !== 0) {
    return refuse('wrong_quantity', { params: { step }, data: { cart_step: step } })
  }
  const amount = fromCents(BigInt(placing.quantity) * toCents(priced.data.price))
  const { variant, rulePlatformVariants, ruleNames } = priced.data
  const lines: OrderLine[] = [
    { variant: variant.platformVariantId, name: variant.variantName, quantity: placing.quantity },
    ...rulePlatformVariants.map((rule, at) => ({
      variant: rule,
      name: ruleNames[at] ?? rule,
      quantity: placing.quantity
    }))
  ]
  return ok({ ...priced.data, amount, lines })
}

async function emailOf(db: Executor, userId: number): Promise<string> {
  const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
  return user?.email ?? ''
}
