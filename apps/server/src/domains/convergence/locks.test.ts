import { setTimeout as sleep } from 'node:timers/promises'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import { addGroup, addOrders, addRule } from '../inventory/inventory.fixture.ts'
import { leasesOf, lockInventory, release, reserve } from '../inventory/index.ts'
import { renewDenyLists } from '../servers/desired/desired-users.ts'
import { setDesiredUsers } from './manage-users.ts'
import { withServerLock } from '../servers/server-row.ts'
import { addTestServer, leaseOn, startFleetShop, wantTestUsers } from './fleet.fixture.ts'
import { agentUsers } from '../servers/tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import { meanwhile } from '../../testing/one-connection.ts'

const world = useStarted(startFleetShop)
const admin = useStarted(() => world.admin())
let rule = 0

beforeAll(async () => {
  rule = await addRule(world.ctx.db, 'locks')
})

/** Waits until a session of this database waits for a lock, or `other` is done without one. */
async function someoneWaits(other: Promise<unknown>): Promise<void> {
  const ended = other.then(
    () => true,
    () => true
  )
  const deadline = Date.now() + 30_000
  do {
    const { rows } = await world.ctx.db.execute<{ waiting: number }>(sql`select count(*) as waiting
      from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`)
    if ((rows[0]?.waiting ?? 0) > 0) return
    if (Date.now() > deadline) throw new Error('nobody waits for a lock')
  } while (!(await Promise.race([ended, sleep(20, false)])))
}

const edit = (id: number, name: string, ranges: string[]) =>
  admin.put(`/api/servers/servers/${id}/`, { name, ip: '127.0.0.1', port: 22, cidr: ranges.join('\n') })

test('an edit of a server does not deadlock with a confirmation of its agent', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'confirming', { ranges: ['127.41.0.0/24'] })
  const orderId = await leaseOn(ctx, id, rule)
  await command(ctx, SYSTEM, unit =>
    setDesiredUsers(unit, [
      { serverId: id, username: 'confirmed', orderId, password: 'x', prefixes: ['127.41.0.0/32'], rules: [rule] }
    ])
  )
  const { editing } = await ctx.db.transaction(async tx => {
    // In the order of a confirmation: first the user, then the addresses that it gave up.
    await tx.update(agentUsers).set({ digest: 'as told' }).where(eq(agentUsers.username, 'confirmed'))
    const asked = { editing: edit(id, 'confirming', ['127.41.0.0/24', '127.41.1.0/24']) }
    await someoneWaits(asked.editing)
    await release(tx, { orderId })
    return asked
  })
  expect(await editing).toMatchObject({ code: 2000 })
})

test('an edit of a server does not deadlock with a delivery to it', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'delivering', { ranges: ['127.42.0.0/24'] })
  const groupId = await addGroup(ctx.db, 'delivering', [id])
  const [orderId = 0] = await addOrders(ctx.db, groupId, 1)
  const { editing } = await command(ctx, SYSTEM, async unit => {
    const { tx } = unit
    const reserved = await reserve(tx, { orderId, groupId, step: 1, rules: [rule], quantity: 1 })
    expect(reserved.ok).toBe(true)
    const asked = { editing: edit(id, 'delivering', ['127.42.0.0/24', '127.42.1.0/24']) }
    await meanwhile(() => someoneWaits(asked.editing))
    await setDesiredUsers(unit, [
      { serverId: id, username: 'delivered', orderId, password: 'x', prefixes: ['127.42.0.0/32'], rules: [rule] }
    ])
    return asked
  })
  expect(await editing).toMatchObject({ code: 2000 })
})

test('deny lists are renewed after a rule edit that is not committed yet, although its own request met the waiting job', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'denying', { ranges: ['127.43.0.0/24'] })
  const [username = ''] = await wantTestUsers(ctx, id, { count: 1, base: '127.43.0' })
  const generation = async () => {
    const [row] = await ctx.db.select().from(agentUsers).where(eq(agentUsers.username, username))
    return row?.generation ?? 0
  }
  const before = await generation()
  const { renewal } = await ctx.db.transaction(async tx => {
    await addRule(tx, 'comes late')
    const asked = { renewal: renewDenyLists(ctx) }
    await someoneWaits(asked.renewal)
    expect(await generation()).toBe(before)
    return asked
  })
  await renewal
  expect(await generation()).toBeGreaterThan(before)
})

test('provisioning a server hides no chunk from reservations, though their ids be the same', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'two chunks', { ranges: ['127.44.0.0/24', '127.44.1.0/24'] })
  const groupId = await addGroup(ctx.db, 'two chunks', [id])
  const { rows } = await ctx.db.execute<{ id: number }>(
    sql`select id from chunks where server_id = ${id} order by id limit 1`
  )
  const first = rows[0]?.id ?? 0
  const reserveOne = async () => {
    const [orderId = 0] = await addOrders(ctx.db, groupId, 1)
    await ctx.db.transaction(tx => reserve(tx, { orderId, groupId, step: 1, rules: [rule], quantity: 1 }))
    return (await leasesOf(ctx.db, orderId)).flatMap(share => share.prefixes)
  }
  const provisioning = { lock: 'serverProvisioning' } as const
  const ran = await withServerLock(
    ctx.db,
    first,
    async () => expect(await reserveOne()).toEqual(['127.44.0.0/32']),
    provisioning
  )
  expect(ran).toBe(true)
  // A buyer who fills the chunk hides it, so the next buyer takes the other one.
  await ctx.db.transaction(async tx => {
    await lock(tx, 'inventoryChunk', first)
    expect(await reserveOne()).toEqual(['127.44.1.0/32'])
  })
})

test('plans of a server and of a group neither wait for leasing nor delay it', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'planned', { ranges: ['127.46.0.0/24'] })
  const groupId = await addGroup(ctx.db, 'planned', [id])
  await ctx.db.transaction(async tx => {
    await lockInventory(tx)
    await tx.execute(sql`select from servers where id = ${id} for update`)
    await tx.execute(sql`select from server_groups where id = ${groupId} for update`)
    const plans = Promise.all([
      ...['pause', 'drain', 'give_up', 'move'].map(action =>
        admin.get(`/api/servers/servers/${id}/plan/?action=${action}`)
      ),
      admin.post(`/api/servers/server-groups/${groupId}/plan/`, { servers: [] })
    ])
    const codes = plans.then(all => all.map(({ code }) => code))
    await expect(Promise.race([codes, sleep(20_000, 'they wait')])).resolves.toEqual([2000, 2000, 2000, 2000, 2000])
  })
}, 60_000)
