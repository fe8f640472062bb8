import { expect } from 'vitest'
import { sql } from '../../infra/db/drizzle.ts'
import { place } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import type { ShopProcess, TestStack } from '../../testing/test-stack.ts'

const BUYERS = 50
export const BLOCKS = 10
/** 16 blocks of 8; six are sold before the race. */
export const RANGE = '127.21.0.0/25'

/** A stack with 10 blocks left and its buyers, half of them at each shop. */
export async function lastBlocks(stack: TestStack, shops: ShopProcess[]): Promise<TestClient[]> {
  const [rule = 0] = stack.rules
  const first = await stack.customer(shops[0]?.url ?? '', 'early1')
  const early = await place(stack, first, 48, [rule])
  expect(early.code).toBe(2000)
  await stack.ctx.db.execute(sql`update orders set reserved_until = now() + interval '1 day'`)
  return Promise.all(
    Array.from({ length: BUYERS }, (_, n) => stack.customer(shops[n % shops.length]?.url ?? '', `racer${n}`))
  )
}
