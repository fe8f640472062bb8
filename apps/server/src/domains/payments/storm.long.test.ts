import { sql } from '../../infra/db/drizzle.ts'
import { afterEach, expect, test } from 'vitest'
import { inState, pay, place } from '../../testing/buying.ts'
import { createTestClient, type TestClient } from '../../testing/client.ts'
import { startTestStack, type TestStack } from '../../testing/test-stack.ts'
import { audit } from '../inventory/index.ts'
import { BLOCKS, lastBlocks, RANGE } from './storm.fixture.ts'

let stack: TestStack | undefined
afterEach(async () => {
  await stack?.close()
  stack = undefined
})

test('50 buyers race for the last 10 blocks at 2 shops that are killed: nothing leased twice, every paid order delivered', async () => {
  stack = await startTestStack({ range: RANGE, processes: true })
  const shops = await Promise.all([stack.startShop(), stack.startShop()])
  const buyers = await lastBlocks(stack, shops)
  const [rule = 0] = stack.rules
  const paid: { buyer: TestClient; publicId: string }[] = []
  const running = stack
  let placed = 0
  const buy = async (buyer: TestClient) => {
    // A killed process leaves its buyer without an answer. The order may exist or not.
    const reply = await place(running, buyer, 8, [rule]).catch(() => null)
    if (reply?.code !== 2000) return
    placed += 1
    await pay(reply.data.checkout_url)
    paid.push({ buyer, publicId: reply.data.order_id })
  }
  const storm = Promise.all(buyers.map(buy))
  // The second process dies during the race, the first while payments settle and the agent gets its users.
  await stack.eventually('the race to be in its middle', async () => placed > 0, 60_000)
  await shops[1]?.kill()
  await storm
  await shops[0]?.kill()
  expect(paid.length).toBeGreaterThan(0)
  expect(paid.length).toBeLessThanOrEqual(BLOCKS)

  // A restarted process takes everything up, including webhooks that the platform retries.
  const again = await stack.startShop('all', shops[0]?.port)
  await stack.eventually(
    'all payments to be reported',
    async () => {
      const { rows } = await running.ctx.db.execute<{ events: number }>(
        sql`select count(*) as events from platform_events`
      )
      return (rows[0]?.events ?? 0) >= paid.length
    },
    60_000
  )
  for (const { buyer, publicId } of paid) {
    const client = await reconnect(buyer, again.url)
    const order = await inState(stack, client, publicId, 'delivered', 60_000)
    expect(order).toMatchObject({ pay_status: 1, delivery_num: 8 })
  }
  expect(await audit(stack.ctx.db)).toEqual({ differences: 0, doubleLeased: 0 })

  // The agent holds exactly the users of the delivered orders.
  const { rows } = await stack.ctx.db.execute<{ name: string }>(
    sql`select proxy_username as name from orders where state = 'delivered'`
  )
  const state = await fetch(`http://127.0.0.1:${stack.agent.port}/api/state`, {
    headers: { authorization: `Bearer ${stack.agent.token}` }
  })
  const { users } = (await state.json()) as { users: { user: string }[] }
  expect(users.map(user => user.user).toSorted()).toEqual(rows.map(row => row.name).toSorted())
}, 180_000)

/** The same session at another process. */
async function reconnect(client: TestClient, url: string): Promise<TestClient> {
  const other = createTestClient(url)
  for (const [name, value] of client.cookies) other.cookies.set(name, value)
  return other
}
