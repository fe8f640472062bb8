import { unpaidLimit } from './unpaid-limits.ts'
import { type LevelDiscount, RESERVATION_MINUTES, fromCents, refuse, toCents } from '@netlet/contract'
import { afterDiscount } from '@netlet/contract/money'
import type { UserActor } from '../../infra/actor.ts'
import { MINUTE, iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { type Result, ok } from '../../infra/result.ts'
import { type Secrets, randomCode } from '../../infra/secrets.ts'
import { purchaseNote } from '../../integrations/shopify/index.ts'
import { type OptionChoice, findShortage, priceOneAddress } from '../catalog/index.ts'
import { isPaused, openPlatform } from '../commerce/index.ts'
import { reserve } from '../inventory/index.ts'
import { enqueueMail } from '../mail/index.ts'
import { discountCodeFor, levelDiscount } from '../rewards/index.ts'
import { isRecovering, readSettings } from '../settings/index.ts'
import { checkoutKey, keepReply, replyTo } from './checkout-keys.ts'
import { buyerOf, orderMailFrom } from './order-mail.ts'
import { type SaleCheck, refusedByStock } from './sale-check.ts'
import { type OrderLine, orders } from './tables.ts'
import { emitOrderEvent, recordEvent } from './transition.ts'

export type Placing = {
  productId: number
  quantity: number
  options: OptionChoice
  /** Ids of the selected access rules. */
  rules: number[]
}

export type Placed = {
  checkout_url: string
  id: number
  order_id: string
  expires_at: string
  /** Before the level's discount and any promo code; the platform subtracts both. */
  amount: string
  discount: LevelDiscount | null
}

/**
 * Places an order: prices it (`priceOrder`), reserves its addresses for 30 minutes and returns the checkout link. A
 * refusal writes nothing.
 * @param idempotencyKey a repeat by the same customer within 24 hours gets the same reply and no second order
 * @param saleCheck asks the platform how many it has left, if it tracks the stock. If it does not answer, our own stock
 *   decides.
 */
export async function placeOrder(
  ctx: AppContext,
  caller: UserActor,
  placing: Placing,
  { idempotencyKey, saleCheck }: { idempotencyKey?: string | null; saleCheck?: SaleCheck } = {}
): Promise<Result<Placed>> {
  // Nor on behalf of a customer, who would owe a purchase that an administrator chose.
  if (caller.isSuperuser || caller.impersonator !== null) return refuse('admin_purchase')
  if (await isRecovering(ctx.db)) return refuse('recovering')
  const key = idempotencyKey ? checkoutKey(caller.id, idempotencyKey, comparableParts(placing)) : null
  // Before the price: a repeat gets its reply even if the plan is no longer sold.
  const kept = key && (await replyTo(ctx.db, key, ctx.now()))
  if (kept && (!kept.ok || kept.data)) return kept as Result<Placed>
  const priced = await priceOrder(ctx, placing)
  if (!priced.ok) return priced
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  if (await isPaused(ctx.db)) return refuse('platform_paused')
  const { variant, rules, basePrice, aclPrice, amount, lines, isCounted } = priced.data
  const ids = lines.map(line => line.variant)
  const platformStock = isCounted && saleCheck ? await saleCheck(platform.data, caller.id, ids) : undefined
  if (platformStock === null) return refuse('too_many', { data: { retry_after: MINUTE / 1000 } })
  const soldOut = platformStock?.ok ? refusedByStock(lines, platformStock.value) : null
  if (soldOut) return soldOut

  const placed = await command<Result<Placed>>(ctx, caller, async unit => {
    const { tx, now } = unit
    const settings = await readSettings(tx, ctx.secrets)
    const discountCode = await discountCodeFor(tx, caller.id)
    const discount = await levelDiscount(tx, discountCode)
    const reservedUntil = new Date(now.getTime() + RESERVATION_MINUTES * MINUTE)
    // Two concurrent orders of one customer must not both pass the limit.
    await lock(tx, 'customerOrders', caller.id)
    const earlier = key && (await replyTo(tx, key, now))
    if (earlier && (!earlier.ok || earlier.data)) return earlier as Result<Placed>
    const limit = await unpaidLimit(tx, { caller, quantity: placing.quantity, now }, settings)
    if (!limit.ok) return limit
    const buyer = await buyerOf(tx, caller.id)

    const publicId = `NL-${randomCode(16)}`
    const checkoutUrl = platform.data.checkoutUrl({
      lines: lines.map(line => ({ variantId: line.variant, quantity: line.quantity })),
      email: buyer.to,
      note: purchaseNote(publicId),
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
        limits: variant.limits,
        addressFamily: variant.family,
        egress: variant.egress,
        variantPrice: basePrice,
        aclPrice,
        amount,
        rules,
        lines,
        checkoutUrl,
        discountCode,
        reservedUntil,
        createdAt: now,
        ...proxyCredentialsOf(ctx.secrets, publicId)
      })
      .returning()
    if (!order) throw new Error('The order was not inserted')
    unit.publish('order', order.id, caller.id)
    await emitOrderEvent(unit, 'order.placed', order)
    await recordEvent(unit, order.id, 'placed', { amount, reserved_until: reservedUntil.toISOString() })
    const { productName, variantName, translations } = variant
    const product = { name: productName, translations }
    const mail = orderMailFrom({ ...buyer, publicId, productName, variantName, product })
    enqueueMail(unit, {
      ...mail,
      template: 'order-received',
      data: {
        ...mail.data,
        proxies: placing.quantity,
        amount: `${discount ? afterDiscount(amount, discount) : amount} ${settings.shop_currency}`,
        days: variant.proxyTime,
        reserved_until: iso(reservedUntil),
        checkout_url: checkoutUrl
      },
      key: `received:${order.id}`
    })
    const reply = { checkout_url: checkoutUrl, id: order.id, order_id: publicId, expires_at: iso(reservedUntil) }
    if (key) await keepReply(unit, key, reply)
    // Last, because it takes the locks that other buyers wait for.
    const lease = await reserve(tx, {
      orderId: order.id,
      groupId: variant.groupId,
      step: variant.step,
      rules,
      quantity: placing.quantity,
      family: variant.family
    })
    if (!lease.ok) return refuse(lease.reason)
    return ok({ ...reply, amount, discount })
  })
  if (placed.ok || placed.reason !== 'out_of_stock') return placed
  // After the transaction, so that other buyers need not wait for its locks.
  const shortage = await findShortage(ctx.db, priced.data, placing.quantity)
  const names = shortage.short.map(rule => rule.acl_name).join(', ')
  return refuse('out_of_stock', {
    params: { rules: names || 'the combination', stock: shortage.stock },
    data: shortage
  })
}

/** The order in our catalogue's prices, before any discount. A payment must contain `lines`; amounts are not compared. */
async function priceOrder(ctx: Pick<AppContext, 'db'>, placing: Placing) {
  const priced = await priceOneAddress(ctx.db, placing)
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

/** Two requests are the same if these parts are equal. */
const comparableParts = ({ productId, quantity, options, rules }: Placing): unknown[] => [
  productId,
  quantity,
  options.option1 ?? null,
  options.option2 ?? null,
  options.option3 ?? null,
  rules.toSorted((a, b) => a - b)
]

/**
 * The first credentials of an order's proxies. They follow from its public id, so that an order which is restored from
 * its payment has those that its customer already uses.
 */
export const proxyCredentialsOf = (secrets: Secrets, publicId: string) => ({
  proxyUsername: `u${secrets.codeOf(`proxy user of ${publicId}`, 9)}`,
  proxyPassword: secrets.codeOf(`proxy password of ${publicId}`, 14)
})
