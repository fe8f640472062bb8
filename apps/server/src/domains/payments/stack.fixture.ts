import type { Order } from '@netlet/contract'
import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { ordersOf, place, type Placed } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type ShopProcess, type TestStack } from '../../testing/test-stack.ts'

/** A whole shop with one plan, one rule, a customer and an administrator, for tests of money events. */
export type PaymentStack = {
  stack: TestStack
  shop: ShopProcess
  buyer: TestClient
  admin: TestClient
  rule: number
  /** The one row of a query. */
  one: (query: SQL) => Promise<Record<string, unknown>>
  /** Places an order of the customer. */
  placed: (quantity?: number) => Promise<Placed>
  /** The customer's order as its list shows it. */
  mine: (publicId: string) => Promise<Order>
  /** Everything that a payment changes for an order. */
  moved: (publicId: string) => Promise<Record<string, unknown>>
}

/** @param range the addresses on sale, unique to this test: '127.29.0.0/25' */
export async function startPaymentStack(range: string): Promise<PaymentStack> {
  const stack = await startTestStack({ range, ruleCount: 1 })
  const rule = stack.rules[0] ?? 0
  const shop = await stack.startShop()
  const buyer = await stack.customer(shop.url, 'buyer1')
  const admin = await stack.admin(shop.url, 'boss1')
  const one = async (query: SQL) => {
    const { rows } = await stack.ctx.db.execute(query)
    if (!rows[0]) throw new Error('no row')
    return rows[0]
  }
  return {
    stack,
    shop,
    buyer,
    admin,
    rule,
    one,
    moved: publicId =>
      one(sql`select o.state, o.pay_amount, o.expired_at,
    (select count(*) from payments p where p.order_id = o.id) as payments,
    (select count(*) from order_events e where e.order_id = o.id and e.kind in ('pay', 'renewed')) as changes,
    (select count(*) from leases l where l.order_id = o.id and l.state <> 'released') as leases,
    (select count(*) from point_records r where r.reason_code = 'payment' and r.reason_params ->> 'order' = o.order_id) as grants,
    (select level_points from users where id = o.user_id) as points
    from orders o where o.order_id = ${publicId}`),
    async placed(quantity = 8) {
      const reply = await place(stack, buyer, quantity, [rule])
      if (reply.code !== 2000) throw new Error(reply.msg)
      return reply.data
    },
    async mine(publicId) {
      const order = (await ordersOf(buyer)).find(row => row.order_id === publicId)
      if (!order) throw new Error(`order ${publicId} is not listed`)
      return order
    }
  }
}
