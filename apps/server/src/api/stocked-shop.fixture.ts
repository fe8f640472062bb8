import { eq, sql } from '../infra/db/drizzle.ts'
import { createApiKey } from '../domains/accounts/index.ts'
import { addCollection, addProduct, addRule, addTag } from '../domains/catalog/products.fixture.ts'
import { serverGroups, serverGroupServers, servers } from '../domains/servers/tables.ts'
import { addCidr } from '../domains/inventory/index.ts'
import { handleEvent, storeEvent } from '../domains/commerce/index.ts'
import { orders } from '../domains/orders/tables.ts'
import { SYSTEM } from '../infra/actor.ts'
import { DAY } from '../infra/clock.ts'
import { command } from '../infra/command.ts'
import { coupons, giftCards } from '../domains/rewards/tables.ts'
import { faqs, savedReplies, tickets } from '../domains/support/tables.ts'
import { writeSettings } from '../domains/settings/index.ts'
import { paidEvent } from '../testing/buying.ts'
import type { TestClient } from '../testing/client.ts'
import { userActor } from '../testing/session.ts'
import { startTestShop, TEST_PASSWORD, type TestShop, type TestUser } from '../testing/shop.ts'
import { eventHandlers } from '../event-handlers.ts'
import { addRow } from '../testing/rows.ts'

/** Nothing listens there: what the shop sends to servers and to the platform fails at once, and stays on this machine. */
export const CLOSED_PORT = 9

export type Buyer = TestClient & { user: TestUser }
export type StockedShop = TestShop & {
  productId: number
  groupId: number
  serverId: number
  rules: number[]
  /** A delivered order: its key for the paths and the id that the platform knows. */
  buy(buyer: Buyer): Promise<{ id: number; publicId: string }>
  /** An API key of a user that may do one thing. */
  apiKey(userId: number, scope: 'read' | 'renew', password?: string): Promise<{ id: number; key: string }>
}

/** The whole shop with something in every table that its lists show. `close()` it in `afterAll`. */
export async function startStockedShop(): Promise<StockedShop> {
  const started = await startTestShop({})
  const { ctx } = started
  const { db } = ctx
  await writeSettings(ctx, {
    shopify_shop_url: `http://127.0.0.1:${CLOSED_PORT}`,
    shopify_app_key: 'platform token',
    accept_test_payments: true,
    shopify_api_secret: 'platform secret',
    max_unpaid_orders: 1000,
    max_unpaid_addresses: 1_000_000,
    max_new_customer_addresses: 1_000_000
  })
  const server = await addRow(ctx, servers, {
    name: 'node',
    ip: '127.0.0.1',
    agentPort: CLOSED_PORT,
    sshPort: CLOSED_PORT
  })
  const group = await addRow(ctx, serverGroups, { name: 'group' })
  await db.insert(serverGroupServers).values({ groupId: group.id, serverId: server.id })
  const range = await db.transaction(tx =>
    addCidr({ tx, now: ctx.now() }, { cidr: '127.40.0.0/20', serverId: server.id })
  )
  if (!range.ok) throw new Error(range.reason)
  const rules = [await addRule(db, '0.50', 'one.test'), await addRule(db, '0.25', 'two.test')]
  const product = await addProduct(
    db,
    {},
    [{ name: 'New York', option1: 'New York', price: '2.00', cartStep: 8, serverGroupId: group.id }],
    { collectionIds: [await addCollection(db, 'Metro')], tagIds: [await addTag(db, 'fast')] }
  )
  await addRow(ctx, faqs, { question: 'Why?', answer: 'Because.' })
  await addRow(ctx, savedReplies, { title: 'Thanks', text: 'Thank you.' })
  await addRow(ctx, tickets, {
    username: 'anna',
    email: 'anna@example.com',
    phone: '1',
    message: 'Help',
    clientIp: '127.0.0.1'
  })
  await addRow(ctx, giftCards, { mount: '5.00', point: 50, code: 'GIFT5' })

  /** What an order's payment has to hold. */
  async function linesOf(publicId: string): Promise<Record<string, number>> {
    const [order] = await db.select({ lines: orders.lines }).from(orders).where(eq(orders.publicId, publicId))
    return Object.fromEntries((order?.lines ?? []).map(({ variant, quantity }) => [variant, quantity]))
  }

  return {
    ...started,
    productId: product.id,
    groupId: group.id,
    serverId: server.id,
    rules,
    async buy(buyer) {
      const placed = await buyer.post<{ order_id: string }>('/api/orders/checkout', {
        product_id: product.id,
        quantity: 8,
        option_selected: { option1: 'New York', acl_selected: rules.slice(0, 1) }
      })
      if (placed.code !== 2000) throw new Error(placed.msg)
      const publicId = placed.data.order_id
      const event = {
        eventId: `paid ${publicId}`,
        topic: 'orders/paid',
        payload: paidEvent({ publicId, amount: '20.00', lines: await linesOf(publicId) })
      }
      await command(ctx, SYSTEM, unit => storeEvent(unit, event))
      await handleEvent(ctx, eventHandlers, event.eventId)
      const [order] = await db
        .update(orders)
        .set({
          state: 'delivered',
          deliveryNum: 8,
          deliveredAt: ctx.now(),
          expiredAt: new Date(ctx.now().getTime() + 30 * DAY)
        })
        .where(eq(orders.publicId, publicId))
        .returning()
      if (!order) throw new Error('the order is not there')
      await db.execute(sql`update proxies set state = 'live' where order_id = ${order.id}`)
      await addRow(ctx, coupons, {
        holderId: buyer.user.id,
        code: `OF-${buyer.user.username}-${order.id}`,
        codeType: 1,
        discount: '1.00'
      })
      return { id: order.id, publicId }
    },
    async apiKey(userId, scope, password = TEST_PASSWORD) {
      const made = await createApiKey(ctx, userActor(userId), { name: scope, scopes: [scope], password })
      if (!made.ok) throw new Error(made.reason)
      return made.data
    }
  }
}
