import { type LevelDiscount, RESERVATION_MINUTES, type Settings, fromCents, refuse, toCents } from '@netlet/contract'
import type { UserActor, VisitorActor } from '../../infra/actor.ts'
import { DAY, MINUTE, iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, ne, not, sql } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { clientNetwork, limitedClient, networksOf, widestNetwork } from '../../infra/http/client-address.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { type Secrets, randomCode } from '../../infra/secrets.ts'
import { purchaseNote } from '../../integrations/shopify/index.ts'
import { SESSION_LIFE } from '../accounts/index.ts'
import { logins, sessions } from '../accounts/tables.ts'
import { type OptionChoice, findShortage, priceOneAddress } from '../catalog/index.ts'
import { isPaused, openPlatform } from '../commerce/index.ts'
import { reserve } from '../inventory/index.ts'
import { enqueueMail } from '../mail/index.ts'
import { discountCodeFor, levelDiscount } from '../rewards/index.ts'
import { isRecovering, readSettings } from '../settings/index.ts'
import { checkoutKey, keepReply, replyTo } from './checkout-keys.ts'
import { buyerOf, orderMailFrom } from './order-mail.ts'
import { type SaleCheck, refusedByStock } from './sold-today.ts'
import { type OrderLine, orders } from './tables.ts'
import { emitOrderEvent, recordEvent } from './transition.ts'

/** In 24 hours a customer may hold all of its allowed addresses unpaid for this many minutes. */
const FULL_MINUTES_A_DAY = 120
/** Unpaid orders in 24 hours, as a multiple of those that it may hold at once. Each one costs a row and a mail. */
const ORDERS_A_DAY = 10

/** New customers of one network hold at most so many times what one of them may; of a wider one a few times as much. */
const NETWORK_TIMES = 4

type Limits = Pick<Settings, 'max_unpaid_orders' | 'max_unpaid_addresses' | 'max_new_customer_addresses'>

const newCustomerLimit = ({ max_unpaid_addresses, max_new_customer_addresses }: Limits): number =>
  Math.min(max_unpaid_addresses, max_new_customer_addresses)

/** How many addresses the caller's next order may have if no other one is unpaid. */
export async function largestOrder(ctx: AppContext, caller: UserActor | VisitorActor): Promise<number> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const isKnown = caller.kind === 'user' && (await hasPaid(ctx.db, caller.id))
  return isKnown ? settings.max_unpaid_addresses : newCustomerLimit(settings)
}

/** Has the customer a payment that counts, and was not given back? */
export async function hasPaid(db: Executor, userId: number): Promise<boolean> {
  const [paid] = await db
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.userId, userId), not(unsettled), ne(orders.state, 'refunded')))
    .limit(1)
  return paid !== undefined
}

/**
 * The clients that an order comes from: the caller's, and the one that its session was opened from, or two networks
 * would do instead of many. Behind a proxy that `TRUST_PROXY` does not name, only the forwarded one: the session's is
 * the proxy's, which all customers share.
 */
async function clientsOf(db: Executor, caller: UserActor): Promise<string[]> {
  if (caller.forwardedFor || !caller.sessionHash) return [limitedClient(caller)]
  const ofCaller = eq(sessions.tokenHash, caller.sessionHash)
  const [session] = await db.select({ ip: sessions.ip }).from(sessions).where(ofCaller)
  const opened = session?.ip ? [clientNetwork(session.ip.replace(/\/\d+$/, ''))] : []
  return [...new Set([limitedClient(caller), ...opened])]
}

/** Addresses held unpaid by customers who have never paid and who have logged in from this network. */
async function heldByNewCustomers(db: Executor, range: string, now: Date): Promise<number> {
  const { rows } = await db.execute<{ held: number }>(sql`
    select coalesce(sum(${orders.quantity}), 0)::bigint as held
    from ${orders}
    where ${orders.state} in ('placed', 'failed') and ${orders.reservedUntil} > ${now} and ${unsettled}
      and (exists (select from ${sessions} s where s.user_id = ${orders.userId} and s.ip <<= ${range}::inet)
        or exists (select from ${logins} l where l.user_id = ${orders.userId} and l.ip <<= ${range}::inet
          and l.at > ${new Date(now.getTime() - SESSION_LIFE)}))
      and not exists (select from ${orders} paid where paid.user_id = ${orders.userId} and paid.paid_at is not null
        and (paid.state <> 'failed' or paid.fail_code = 'out_of_stock'))`)
  return rows[0]?.held ?? 0
}

/**
 * Would new customers of one of the caller's networks hold more than `most`, with this order? It locks the networks,
 * so that concurrent orders of several accounts do not all pass.
 */
async function exceedsNetworkLimit(
  db: Executor,
  caller: UserActor,
  { quantity, most, now }: { quantity: number; most: number; now: Date }
): Promise<boolean> {
  const clients = await clientsOf(db, caller)
  for (const widest of [...new Set(clients.map(widestNetwork))].toSorted()) await lock(db, 'asks', `unpaid:${widest}`)
  for (const { cidr, timesOne } of clients.flatMap(networksOf))
    if ((await heldByNewCustomers(db, cidr, now)) + quantity > most * timesOne) return true
  return false
}

type Unpaid = { open: number; addresses: number; orders: number; addressMinutes: number }

/**
 * May this customer hold `quantity` more addresses unpaid? An underpaid order counts as unpaid, or one cent would hold
 * its addresses. A cancelled order counts for the time that it was held, so that holding, cancelling and holding again
 * is stopped. The caller holds the lock customerOrders.
 */
async function unpaidLimit(
  db: Executor,
  { caller, quantity, now }: { caller: UserActor; quantity: number; now: Date },
  settings: Limits
): Promise<Result<null>> {
  const { max_unpaid_orders, max_unpaid_addresses } = settings
  const held = await unpaidOf(db, caller.id, now)
  if (held.open >= max_unpaid_orders) return refuse('too_many_reservations', { data: { held: held.open } })
  if (quantity > max_unpaid_addresses) return refuse('too_many_addresses', { params: { max: max_unpaid_addresses } })
  if (held.addresses + quantity > max_unpaid_addresses) {
    return refuse('too_many_unpaid_addresses', { params: { max: max_unpaid_addresses, held: held.addresses } })
  }
  if (!(await hasPaid(db, caller.id))) {
    const max = newCustomerLimit(settings)
    if (held.addresses + quantity > max)
      return refuse('too_many_before_payment', { params: { max, held: held.addresses } })
    if (await exceedsNetworkLimit(db, caller, { quantity, most: NETWORK_TIMES * max, now }))
      return refuse('network_holds_unpaid')
  }
  const minutes = held.addressMinutes + quantity * RESERVATION_MINUTES
  if (minutes > max_unpaid_addresses * FULL_MINUTES_A_DAY || held.orders >= max_unpaid_orders * ORDERS_A_DAY) {
    return refuse('unpaid_too_often')
  }
  return done
}

/** No payment counts. A failed order's payment counts only if nothing but addresses was missing. */
const unsettled = sql`(${orders.paidAt} is null
  or ${orders.state} = 'failed' and ${orders.failCode} is distinct from 'out_of_stock')`

/** What the customer holds unpaid at `now`, and held in the 24 hours before. */
async function unpaidOf(db: Executor, userId: number, now: Date): Promise<Unpaid> {
  const since = new Date(now.getTime() - DAY)
  const open = sql`${orders.state} in ('placed', 'failed') and ${orders.reservedUntil} > ${now}`
  // An order whose payment is on its way is held for days. It counts above as held now, and here as any other, unless
  // nothing proves that it will be paid: then it is held for a day, all of which counts.
  const held = sql`case when ${orders.pendingUntil} <= ${orders.createdAt} + interval '1 day' then interval '1 day'
    else make_interval(mins => ${RESERVATION_MINUTES}) end`
  const until = sql`least(${orders.reservedUntil}, ${orders.createdAt} + ${held})`
  const minutes = sql`greatest(0, extract(epoch from ${until} - greatest(${orders.createdAt}, ${since})) / 60)`
  const { rows } = await db.execute<Unpaid>(sql`
    select count(*) filter (where ${open}) as open,
      coalesce(sum(${orders.quantity}) filter (where ${open}), 0)::bigint as addresses,
      count(*) as orders,
      coalesce(ceil(sum(${orders.quantity} * ${minutes})), 0)::bigint as "addressMinutes"
    from ${orders}
    where ${orders.userId} = ${userId} and ${unsettled} and ${orders.reservedUntil} > ${since}`)
  const [row] = rows
  if (!row) throw new Error('the counts are one row')
  return row
}

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
  /** Before `discount`, which the platform subtracts. */
  amount: string
  discount: LevelDiscount | null
}

/**
 * Places an order: prices it, reserves its addresses for 30 minutes and returns the checkout link. A refusal writes
 * nothing.
 * @param idempotencyKey a repeat by the same customer within 24 hours gets the same reply and no second order
 * @param saleCheck asks the platform how many it has left, if it keeps a stock. If it does not answer, all are sold.
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
  const before = key && (await replyTo(ctx.db, key, ctx.now()))
  if (before && (!before.ok || before.data)) return before as Result<Placed>
  const priced = await priceOrder(ctx, placing)
  if (!priced.ok) return priced
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  if (await isPaused(ctx.db)) return refuse('platform_paused')
  const { variant, rules, basePrice, aclPrice, amount, lines, isCounted } = priced.data
  const ids = lines.map(line => line.variant)
  const there = isCounted && saleCheck ? await saleCheck(platform.data, caller.id, ids) : undefined
  if (there === null) return refuse('too_many', { data: { retry_after: MINUTE / 1000 } })
  const short = there?.ok ? refusedByStock(lines, there.value) : null
  if (short) return short

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
        amount: `${amount} ${settings.shop_currency}`,
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

/** Computes the exact price on the server, and checks that the quantity can be bought. */
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
