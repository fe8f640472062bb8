import { eq, ne, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import type { Clock } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { PaidOrder } from '../../integrations/shopify/index.ts'
import { paidEvent } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { addSession, userActor } from '../../testing/session.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { SESSION_COOKIE, SESSION_LIFE } from '../accounts/index.ts'
import { products, variants } from '../catalog/tables.ts'
import type { EventResult } from '../commerce/index.ts'
import { confirmOutcomes, endGraces, expireOrders } from '../delivery/index.ts'
import { agentUsers } from '../servers/tables.ts'
import { addGroup, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { assignCidrs } from '../inventory/index.ts'
import { placeOrder, timeOutOrders, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { writeSettings } from '../settings/index.ts'
import {
  startRefundPlatform,
  type PlatformOrders,
  type RefundMade,
  type RefundReplies
} from './refund-platform.fixture.ts'
import { settlePayment } from './settle.ts'
import { addRow } from '../../testing/rows.ts'

export type Buyer = TestClient & { user: { id: number; username: string; email: string } }

/** The body of POST /api/orders/checkout. */
export type CheckoutBody = {
  product_id: number
  quantity: number
  option_selected: { option1: string; acl_selected: number[] }
}

/**
 * A whole shop in this process with one plan in blocks of 8 and one server for each range. No job runs by itself, there
 * is no agent, and `advance` moves the clock: a test decides what happens and when.
 */
export type OrderShop = {
  shop: TestShop
  /** A customer who stays signed in while the clock moves. */
  customer(username: string): Promise<Buyer>
  admin(username: string): Promise<Buyer>
  /** Stops keeping a person signed in. */
  forget(person: Buyer): void
  /** Moves the shop's clock ahead. */
  advance(milliseconds: number): Promise<void>
  /** Ends every order, so that all addresses are in stock. */
  endAll(): Promise<void>
  rules: number[]
  serverIds: number[]
  groupId: number
  /** The body for the checkout. */
  wanted(quantity?: number, rules?: number[]): CheckoutBody
  /** Places an order without the HTTP call. @returns its row */
  place(buyer: Buyer, quantity?: number, rules?: number[]): Promise<OrderRow>
  /** Reports that an order was paid. @param id the platform's id of the payment */
  pay(
    order: Pick<OrderRow, 'publicId' | 'amount'>,
    how?: { renewal?: boolean; id?: number; lines?: Record<string, number> }
  ): Promise<EventResult>
  /** The refunds that the platform was asked for. */
  refundsMade: RefundMade[]
  /** How the platform answers refund requests. */
  refundReplies: RefundReplies
  /** What the platform's API returns for its orders. */
  platformOrders: PlatformOrders
  /** The agents of these servers (default: all) do what is wanted of them and confirm it. */
  confirm(serverIds?: number[]): Promise<void>
  row(id: number): Promise<OrderRow>
  /** Addresses on sale under these rules. */
  stock(rules?: number[]): Promise<number>
  /** Templates of the queued mails with this order's id in their key, oldest first. */
  mailsOf(orderId: number): Promise<{ template: string; key: string }[]>
  close(): Promise<void>
}

/** @param now the test's own clock; `advance` then moves nothing */
export async function startOrderShop({
  ranges = ['127.90.0.0/22'],
  ruleCount = 2,
  proxyTime = 30,
  now
}: { ranges?: string[]; ruleCount?: number; proxyTime?: number; now?: Clock } = {}): Promise<OrderShop> {
  const shop = await startTestShop(now ? { now } : {})
  const platform = await startRefundPlatform()
  const { ctx } = shop
  const { db } = ctx
  await writeSettings(ctx, {
    shopify_shop_url: platform.url,
    shopify_app_key: 'platform token',
    shopify_api_secret: 'platform secret'
  })
  const serverIds: number[] = []
  for (const range of ranges) {
    const serverId = await addServer(db, `agent of ${range}`)
    await inTransaction(db, assignCidrs, serverId, [range])
    serverIds.push(serverId)
  }
  const groupId = await addGroup(db, 'here', serverIds)
  const rules: number[] = []
  for (let n = 1; n <= ruleCount; n++) rules.push(await addRule(db, `Rule ${n}`, { platformVariantId: `90${n}` }))
  const product = await addRow(ctx, products, { platformId: '1', name: 'Plan' })
  await addRow(ctx, variants, {
    productId: product.id,
    platformId: '11',
    name: 'Here',
    option1: 'Here',
    price: '2.00',
    cartStep: 8,
    proxyTime,
    serverGroupId: groupId
  })

  // More of everything than any order needs.
  const everything = Object.fromEntries(
    ['11', ...rules.map((_, at) => `90${at + 1}`)].map(variant => [variant, 10_000])
  )
  const row = async (id: number) => {
    const [order] = await db.select().from(orders).where(eq(orders.id, id))
    if (!order) throw new Error(`there is no order ${id}`)
    return order
  }
  const people: Buyer[] = []
  let signedInAt = ctx.now().getTime()
  const known = (person: Buyer) => (people.push(person), person)
  const confirm = async (only = serverIds) => {
    for (const serverId of only) await confirmServer(ctx, serverId)
  }
  return {
    shop,
    customer: async username => known(await shop.customer({ username })),
    admin: async username => known(await shop.admin({ username })),
    forget: person => void people.splice(people.indexOf(person), 1),
    async advance(milliseconds) {
      shop.advance(milliseconds)
      const time = ctx.now().getTime()
      if (time - signedInAt < SESSION_LIFE / 2) return
      signedInAt = time
      for (const { cookies, user } of people) cookies.set(SESSION_COOKIE, await addSession(ctx, user.id))
    },
    async endAll() {
      const past = sql`${new Date(ctx.now().getTime() - 1000)}`
      await db.execute(sql`update orders set reserved_until = ${past} where state in ('placed', 'failed')`)
      await timeOutOrders(ctx)
      // The rounds confirm new addresses first, then the old ones of a change.
      for (let n = 0; n < 3; n++) await confirm()
      await db.execute(sql`update orders set expired_at = ${past} where state = 'delivered'`)
      await expireOrders(ctx)
      await db.execute(sql`update orders set grace_until = ${past} where grace_until is not null`)
      await endGraces(ctx)
      await confirm()
    },
    rules,
    serverIds,
    groupId,
    wanted: (quantity = 8, selected = rules.slice(0, 1)) => ({
      product_id: product.id,
      quantity,
      option_selected: { option1: 'Here', acl_selected: selected }
    }),
    async place(buyer, quantity = 8, selected = rules.slice(0, 1)) {
      const placing = {
        productId: product.id,
        quantity,
        options: { option1: 'Here', option2: '', option3: '' },
        rules: selected
      }
      const placed = await placeOrder(ctx, userActor(buyer.user.id), placing)
      if (!placed.ok) throw new Error(placed.reason)
      return row(placed.data.id)
    },
    refundsMade: platform.made,
    refundReplies: platform.replies,
    platformOrders: platform.orders,
    pay({ publicId, amount }, { renewal = false, id, lines = everything } = {}) {
      const event = paidEvent({ publicId, amount, renewal, lines, ...(id === undefined ? {} : { id }) })
      return command(ctx, SYSTEM, unit => settlePayment(unit, PaidOrder.parse(event), ctx))
    },
    confirm,
    row,
    async stock(selected = rules.slice(0, 1)) {
      const { rows } = await db.execute<{ stock: number }>(
        sql`select inventory.stock(${groupId}, 8, ${sql.raw(`array[${selected.join(',')}]::int[]`)}) as stock`
      )
      return rows[0]?.stock ?? 0
    },
    async mailsOf(orderId) {
      const { rows } = await db.execute<{ template: string; key: string }>(
        sql`select data ->> 'template' as template, data ->> 'key' as key from pgboss.job
          where name = 'send-mail' and data ->> 'key' similar to ${`[a-z]+:${orderId}(:%)?`} order by created_on, id`
      )
      return rows
    },
    async close() {
      await shop.close()
      await platform.close()
    }
  }
}

/** A server's agent holds what is wanted of it. */
async function confirmServer(ctx: TestShop['ctx'], serverId: number): Promise<void> {
  const behind = await ctx.db
    .select({ orderId: agentUsers.orderId })
    .from(agentUsers)
    .where(sql`${agentUsers.serverId} = ${serverId} and ${agentUsers.generation} <> ${agentUsers.appliedGeneration}`)
  const orderIds = behind.flatMap(({ orderId }) => (orderId === null ? [] : [orderId]))
  if (orderIds.length === 0) return
  await confirmOutcomes(ctx)(orderIds, async ({ tx }) => {
    await tx.delete(agentUsers).where(sql`${agentUsers.serverId} = ${serverId} and not ${agentUsers.wanted}`)
    await tx
      .update(agentUsers)
      .set({ appliedGeneration: agentUsers.generation })
      .where(sql`${eq(agentUsers.serverId, serverId)} and ${ne(agentUsers.generation, agentUsers.appliedGeneration)}`)
  })
}
