import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { TestShop } from '../../testing/shop.ts'
import { setDesiredUsers } from './desired.ts'
import { addTestServer, startFleetShop, usersOf } from './fleet.fixture.ts'
import { agentUsers, orderAccess } from './tables.ts'

let world: TestShop
beforeAll(async () => {
  world = await startFleetShop()
})
afterAll(() => world?.close())

/** Wants users on their agents, with one address each. */
const want = (...users: { serverId: number; orderId: number; ip: string }[]) =>
  command(world.ctx, SYSTEM, unit =>
    setDesiredUsers(
      unit,
      users.map(({ serverId, orderId, ip }) => {
        const username = `of${orderId}`
        return { serverId, username, orderId, password: 'x', prefixes: [`${ip}/32`], rules: [] }
      })
    )
  )

test('all agents of an order hear of the clients that its list loses, and those of no other', async () => {
  const { ctx } = world
  const [first, mine, other] = [700_001, 700_002, 700_003]
  const kept = await addTestServer(ctx, 'kept', { ranges: ['127.43.0.0/24'] })
  const added = await addTestServer(ctx, 'added', { ranges: ['127.44.0.0/24'] })
  const listing = { access: 'address' as const, attemptsSince: ctx.now() }
  await ctx.db.insert(orderAccess).values([
    { orderId: first, ...listing, clientIps: ['198.51.100.0/24'] },
    { orderId: mine, ...listing, clientIps: ['198.51.100.7/32', '203.0.113.7/32'] }
  ])
  await want({ serverId: added, orderId: first, ip: '127.44.0.1' })
  await want({ serverId: kept, orderId: mine, ip: '127.43.0.1' }, { serverId: kept, orderId: other, ip: '127.43.0.2' })
  await ctx.db.update(agentUsers).set({ appliedGeneration: sql`${agentUsers.generation}` })

  // It has its addresses on the one server already, and is given one of the first order's on the other.
  await want({ serverId: added, orderId: mine, ip: '127.44.0.1' })
  const [row] = await ctx.db.select().from(orderAccess).where(eq(orderAccess.orderId, mine))
  expect(row).toMatchObject({ access: 'address', clientIps: ['203.0.113.7/32'] })
  const users = [...(await usersOf(ctx, kept)), ...(await usersOf(ctx, added))]
  const behind = users.filter(user => user.generation !== user.appliedGeneration)
  expect(behind.map(({ serverId, orderId }) => [serverId, orderId])).toEqual([
    [kept, mine],
    [added, mine]
  ])
})
