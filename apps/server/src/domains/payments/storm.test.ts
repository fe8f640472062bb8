import { sql } from '../../infra/db/drizzle.ts'
import { afterEach, expect, test } from 'vitest'
import { place } from '../../testing/buying.ts'
import { startTestStack, type TestStack } from '../../testing/test-stack.ts'
import { audit } from '../inventory/index.ts'
import { BLOCKS, lastBlocks, RANGE } from './storm.fixture.ts'

let stack: TestStack | undefined
afterEach(async () => {
  await stack?.close()
  stack = undefined
})

test('50 buyers race for the last 10 blocks at 2 shops: exactly 10 win', async () => {
  stack = await startTestStack({ range: RANGE })
  const shops = await Promise.all([stack.startShop('serve'), stack.startShop('serve')])
  const buyers = await lastBlocks(stack, shops)
  const [rule = 0] = stack.rules
  const running = stack
  const replies = await Promise.all(buyers.map(buyer => place(running, buyer, 8, [rule])))
  const winners = replies.filter(reply => reply.code === 2000)
  const losers = replies.filter(reply => reply.code !== 2000)
  expect(winners).toHaveLength(BLOCKS)
  expect(losers.every(reply => reply.status === 409 && reply.msg === 'Out of stock')).toBe(true)
  const { rows } = await stack.ctx.db.execute<{ orders: number }>(sql`select count(*) as orders from orders`)
  expect(rows[0]?.orders).toBe(BLOCKS + 1)
  expect(await audit(stack.ctx.db)).toEqual({ differences: 0, doubleLeased: 0 })
})
