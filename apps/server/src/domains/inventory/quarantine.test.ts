import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from './inventory.fixture.ts'
import {
  activate,
  addCidr,
  audit,
  deleteRule,
  leasesOf,
  stockForRules,
  release,
  reserve,
  splitLease,
  addressHolders
} from './index.ts'
import { endQuarantines } from './jobs.ts'

let shop: TestShop
let rule = 0

beforeAll(async () => {
  shop = await startTestShop({ routes: () => undefined })
  rule = await addRule(shop.ctx.db, 'resting')
  await writeSettings(shop.ctx, { quarantine_hours: 2 })
})
afterAll(async () => {
  expect(await audit(shop.ctx.db)).toEqual({ differences: 0, doubleLeased: 0 })
  await shop?.close()
})

async function sold(name: string, ...ranges: string[]) {
  const { db } = shop.ctx
  const serverIds: number[] = []
  for (const cidr of ranges) {
    const serverId = await addServer(db, `${name} ${cidr}`)
    const added = await inTransaction(db, addCidr, { cidr, serverId })
    if (!added.ok) throw new Error(added.reason)
    serverIds.push(serverId)
  }
  const groupId = await addGroup(db, name, serverIds)
  const [orderId = 0, other = 0] = await addOrders(db, groupId, 2)
  const stock = () => stockForRules(db, { groupId, step: 8, rules: [rule] })
  const take = (id: number, quantity: number, avoid: number[] = []) =>
    db.transaction(tx => reserve(tx, { orderId: id, groupId, step: 8, rules: [rule], quantity, avoid }))
  return { groupId, serverIds, orderId, other, stock, take }
}

test('addresses that were in use rest before they are in stock again, and their history ends with their release', async () => {
  const { db } = shop.ctx
  const { orderId, other, stock, take } = await sold('used', '10.70.0.0/28')
  await take(orderId, 16)
  await activate(db, orderId)
  await release(db, { orderId })
  expect(await stock()).toBe(0)
  expect(await take(other, 8)).toEqual({ ok: false, reason: 'out_of_stock' })
  expect((await addressHolders(db, { ip: '10.70.0.3' })).map(held => [held.orderId, held.to !== null])).toEqual([
    [orderId, true]
  ])
  expect(await leasesOf(db, orderId)).toEqual([])
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })

  expect(await endQuarantines(shop.ctx)).toBe(0)
  shop.advance(2 * HOUR + 1000)
  // Two blocks, one in each transaction; and again, at once with itself.
  expect((await Promise.all([endQuarantines(shop.ctx, 1), endQuarantines(shop.ctx, 1)])).reduce((a, b) => a + b)).toBe(
    2
  )
  expect(await stock()).toBe(16)
  expect((await take(other, 8)).ok).toBe(true)
  await expect(db.execute(sql`update lease_blocks set rests_until = now()`)).rejects.toThrow()
})

test('what was never paid for returns to stock at once', async () => {
  const { orderId, stock, take } = await sold('unpaid', '10.70.1.0/28')
  await take(orderId, 8)
  await release(shop.ctx.db, { orderId })
  expect(await stock()).toBe(16)
})

test('a range or a rule that goes takes what rests with it', async () => {
  const { db } = shop.ctx
  const { orderId, take } = await sold('leaving', '10.70.2.0/28')
  await take(orderId, 8)
  await activate(db, orderId)
  await release(db, { orderId })
  await db.execute(sql`select inventory.remove_cidr(id) from cidrs where cidr = '10.70.2.0/28'`)
  expect((await addressHolders(db, { ip: '10.70.2.3' })).map(held => held.orderId)).toEqual([orderId])
})

test('a rule that is deleted ends the rest under itself, not under the other rules of the order', async () => {
  const { db } = shop.ctx
  const [deleted, kept] = [await addRule(db, 'deleted'), await addRule(db, 'kept')]
  const serverId = await addServer(db, 'two rules')
  await inTransaction(db, addCidr, { cidr: '10.70.7.0/28', serverId })
  const groupId = await addGroup(db, 'two rules', [serverId])
  const [both = 0, one = 0] = await addOrders(db, groupId, 2)
  const used = async (orderId: number, rules: number[]) => {
    await db.transaction(tx => reserve(tx, { orderId, groupId, step: 8, rules, quantity: 8 }))
    await activate(db, orderId)
    await release(db, { orderId })
  }
  await used(both, [deleted, kept])
  await used(one, [deleted])
  const stock = (...rules: number[]) => stockForRules(db, { groupId, step: 8, rules })
  expect(await Promise.all([stock(kept), stock(deleted)])).toEqual([8, 0])

  expect((await inTransaction(db, deleteRule, deleted)).ok).toBe(true)
  expect(await stock(kept)).toBe(8)
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  const { rows } = await db.execute(
    sql`select lease_id from lease_blocks where rests_until is not null and rules @> array[${deleted}::int]`
  )
  expect(rows).toHaveLength(1)

  // Its rest ends as any other. The deleted rule has nothing to give back.
  shop.advance(2 * HOUR + 1000)
  await endQuarantines(shop.ctx)
  expect(await stock(kept)).toBe(16)
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
})

test('the part of a lease on one server becomes a lease of its own, with the same addresses', async () => {
  const { db } = shop.ctx
  const { orderId, serverIds, take } = await sold('split', '10.70.3.0/29', '10.70.4.0/29', '10.70.5.0/29')
  const [first = 0, second = 0, third = 0] = serverIds
  const lease = await take(orderId, 16, [second])
  if (!lease.ok) throw new Error(lease.reason)
  await activate(db, orderId)
  const shares = async () => (await leasesOf(db, orderId)).map(share => [share.serverId, share.leaseId, share.prefixes])
  expect(await shares()).toEqual([
    [first, lease.leaseId, ['10.70.3.0/29']],
    [third, lease.leaseId, ['10.70.5.0/29']]
  ])
  expect(await splitLease(db, lease.leaseId, second)).toBeNull()
  const part = await splitLease(db, lease.leaseId, third)
  expect(await shares()).toEqual([
    [first, lease.leaseId, ['10.70.3.0/29']],
    [third, part, ['10.70.5.0/29']]
  ])
  expect(await splitLease(db, lease.leaseId, first)).toBe(lease.leaseId)
  // It cannot go to another order's lease.
  const { other } = await sold('split elsewhere', '10.70.6.0/29')
  await expect(
    db.execute(
      sql`update lease_blocks set lease_id = (select id from leases where order_id <> ${orderId} limit 1) where lease_id = ${part}`
    )
  ).rejects.toThrow()
  expect(other).toBeGreaterThan(0)
  await release(db, { leaseIds: [part ?? 0] })
  expect((await leasesOf(db, orderId)).map(share => share.serverId)).toEqual([first])
})
