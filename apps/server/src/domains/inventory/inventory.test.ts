import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, closeDatabase, openDatabase } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from './inventory.fixture.ts'
import {
  activate,
  addCidr,
  addressesOf,
  audit,
  excludeRules,
  leasesOf,
  maxStep,
  stockByRule,
  stockForRules,
  release,
  reserve,
  reserveOther,
  addressHolders
} from './index.ts'

let database: TestDatabase
let db: Database
let serial = 0
let rules: number[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 4 })
  for (const name of ['one', 'two', 'three']) rules.push(await addRule(db, name))
})

afterAll(async () => {
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  await closeDatabase(db)
  await database.drop()
})

/** A server with these ranges, alone in its group, and orders to lease for. */
async function shop(ranges: string[], orders = 3) {
  const name = `shop ${(serial += 1)}`
  const serverId = await addServer(db, name)
  const groupId = await addGroup(db, name, [serverId])
  const cidrIds: number[] = []
  for (const cidr of ranges) {
    const added = await inTransaction(db, addCidr, { cidr, serverId })
    if (!added.ok) throw new Error(JSON.stringify(added))
    cidrIds.push(added.cidrId)
  }
  return { serverId, groupId, cidrIds, orders: await addOrders(db, groupId, orders) }
}

/** The n-th order; the tests count them. */
const nth = (orders: number[], at: number) => orders[at] ?? Number.NaN

async function ips(leaseId: number): Promise<string[]> {
  const all: string[] = []
  for await (const page of addressesOf(db, leaseId, { pageSize: 3 })) all.push(...page.map(({ ip }) => ip))
  return all
}

async function reserved(wanted: Parameters<typeof reserve>[1]): Promise<number> {
  const result = await reserve(db, wanted)
  if (!result.ok) throw new Error(result.reason)
  return result.leaseId
}

describe('stock', () => {
  it('counts addresses in aligned free blocks for each rule', async () => {
    const { groupId, orders } = await shop(['10.1.0.0/24'])
    await reserved({ orderId: nth(orders, 0), groupId, step: 1, rules: rules.slice(0, 1), quantity: 1 })
    const stock = async (step: number) => (await stockByRule(db, { groupId, step })).map(rule => rule.stock)
    expect(await stock(1)).toEqual([255, 256, 256])
    expect(await stock(8)).toEqual([248, 256, 256])
    expect(await stock(128)).toEqual([128, 256, 256])
    expect(await stock(256)).toEqual([0, 256, 256])
  })

  it('counts only addresses that are free for all the selected rules at once', async () => {
    const { groupId, orders } = await shop(['10.1.1.0/28'])
    const [a = 0, b = 0, c = 0] = rules
    await reserved({ orderId: nth(orders, 0), groupId, step: 1, rules: [a], quantity: 2 })
    await reserved({ orderId: nth(orders, 1), groupId, step: 8, rules: [b], quantity: 8 })
    expect(await stockForRules(db, { groupId, step: 1, rules: [a] })).toBe(14)
    expect(await stockForRules(db, { groupId, step: 1, rules: [b] })).toBe(8)
    expect(await stockForRules(db, { groupId, step: 1, rules: [b, a, b] })).toBe(8)
    expect(await stockForRules(db, { groupId, step: 8, rules: [a, b] })).toBe(8)
    expect(await stockByRule(db, { groupId, step: 8, selected: [a] })).toEqual([
      { ruleId: a, stock: 8 },
      { ruleId: b, stock: 8 },
      { ruleId: c, stock: 8 }
    ])
  })

  it('shows nothing of a removed server, a removed group or a server that left the group', async () => {
    const { groupId, serverId } = await shop(['10.1.2.0/30'])
    const stock = () => stockForRules(db, { groupId, step: 1, rules })
    expect(await stock()).toBe(4)
    await db.execute(sql`update servers set deleted_at = now() where id = ${serverId}`)
    expect(await stock()).toBe(0)
    await db.execute(sql`update servers set deleted_at = null where id = ${serverId}`)
    await db.execute(sql`update server_groups set deleted_at = now() where id = ${groupId}`)
    expect(await stock()).toBe(0)
    await db.execute(sql`update server_groups set deleted_at = null where id = ${groupId}`)
    await db.execute(sql`delete from server_group_servers where group_id = ${groupId}`)
    expect(await stock()).toBe(0)
    expect((await stockByRule(db, { groupId, step: 1 })).map(rule => rule.stock)).toEqual([0, 0, 0])
  })

  it('knows the largest step a group can hold', async () => {
    expect(await maxStep(db, (await shop(['10.1.3.0/32', '10.1.3.64/26'])).groupId)).toBe(64)
    expect(await maxStep(db, (await shop(['10.1.4.0/20'.replace('.4.', '.16.')])).groupId)).toBe(256)
    expect(await maxStep(db, (await shop([])).groupId)).toBe(0)
  })
})

describe('reserving', () => {
  it('leases aligned blocks, lowest first, and shares an address between rules that do not meet', async () => {
    const { groupId, serverId, orders } = await shop(['10.2.0.0/26'])
    const [a = 0, b = 0] = rules
    const first = await reserved({ orderId: nth(orders, 0), groupId, step: 1, rules: [a], quantity: 1 })
    const second = await reserved({ orderId: nth(orders, 0), groupId, step: 8, rules: [a], quantity: 16 })
    const third = await reserved({ orderId: nth(orders, 1), groupId, step: 8, rules: [b], quantity: 8 })
    expect(await leasesOf(db, nth(orders, 0))).toEqual([
      {
        leaseId: first,
        state: 'reserved',
        rules: [a],
        replaced: false,
        serverId,
        prefixes: ['10.2.0.0/32'],
        addresses: 1
      },
      {
        leaseId: second,
        state: 'reserved',
        rules: [a],
        replaced: false,
        serverId,
        prefixes: ['10.2.0.8/29', '10.2.0.16/29'],
        addresses: 16
      }
    ])
    expect(await ips(third)).toEqual(Array.from({ length: 8 }, (_, at) => `10.2.0.${at}`))
  })

  it('refuses what does not fit, and leaves the transaction and the stock as they were', async () => {
    const { groupId, orders } = await shop(['10.2.1.0/28'])
    const leaseId = await db.transaction(async tx => {
      expect(await reserve(tx, { orderId: nth(orders, 0), groupId, step: 8, rules, quantity: 24 })).toEqual({
        ok: false,
        reason: 'out_of_stock'
      })
      const taken = await reserve(tx, { orderId: nth(orders, 0), groupId, step: 8, rules, quantity: 16 })
      return taken.ok ? taken.leaseId : undefined
    })
    expect((await leasesOf(db, nth(orders, 0))).map(lease => [lease.leaseId, lease.prefixes])).toEqual([
      [leaseId, ['10.2.1.0/28']]
    ])
    expect(await reserve(db, { orderId: nth(orders, 1), groupId, step: 1, rules, quantity: 1 })).toEqual({
      ok: false,
      reason: 'out_of_stock'
    })
  })

  it('spans chunks if no chunk holds it all', async () => {
    const { groupId, orders } = await shop(['10.2.2.0/30', '10.2.2.128/31', '10.2.2.64/29'])
    await reserved({ orderId: nth(orders, 0), groupId, step: 1, rules, quantity: 13 })
    const [lease] = await leasesOf(db, nth(orders, 0))
    expect(lease?.addresses).toBe(13)
    expect(lease?.prefixes).toEqual(['10.2.2.0/30', '10.2.2.64/30', '10.2.2.68/31', '10.2.2.70/32', '10.2.2.128/31'])
    expect(await stockForRules(db, { groupId, step: 1, rules })).toBe(1)
  })

  it('sells nothing of a range to an order with a rule that the range excludes', async () => {
    const { groupId, cidrIds, orders } = await shop(['10.2.3.0/29', '10.2.3.8/29'])
    const [a = 0, b = 0] = rules
    expect(await inTransaction(db, excludeRules, cidrIds[0] ?? 0, [a])).toEqual({ ok: true })
    expect(await stockForRules(db, { groupId, step: 1, rules: [a] })).toBe(8)
    expect((await stockByRule(db, { groupId, step: 8, selected: [b] })).map(rule => rule.stock)).toEqual([8, 16, 16])
    expect((await stockByRule(db, { groupId, step: 8 })).map(rule => rule.stock)).toEqual([8, 16, 16])
    const lease = await reserved({ orderId: nth(orders, 0), groupId, step: 8, rules: [b, a], quantity: 8 })
    expect((await ips(lease))[0]).toBe('10.2.3.8')
    expect((await reserve(db, { orderId: nth(orders, 0), groupId, step: 8, rules: [a], quantity: 8 })).ok).toBe(false)
  })

  it('has no stock for a step larger than the range, nor for an unknown rule', async () => {
    const { groupId, orders } = await shop(['10.2.4.0/29'])
    expect(await stockForRules(db, { groupId, step: 16, rules })).toBe(0)
    expect(await stockForRules(db, { groupId, step: 1, rules: [...rules, 9999] })).toBe(0)
    for (const wanted of [
      { step: 16, rules, quantity: 16 },
      { step: 1, rules: [...rules, 9999], quantity: 1 }
    ]) {
      expect((await reserve(db, { orderId: nth(orders, 0), groupId, ...wanted })).ok).toBe(false)
    }
  })

  it('calls a quantity that is no multiple of the step, and an empty choice of rules, a bug', async () => {
    const { groupId, orders } = await shop(['10.2.5.0/29'])
    const orderId = nth(orders, 0)
    await expect(reserve(db, { orderId, groupId, step: 8, rules, quantity: 4 })).rejects.toThrow(RangeError)
    await expect(reserve(db, { orderId, groupId, step: 8, rules: [], quantity: 8 })).rejects.toThrow(RangeError)
  })

  it('cuts IPv6 into /64s and leases one address of each', async () => {
    const { groupId, serverId, orders } = await shop(['2001:db8:0:ff00::/56'])
    const family = 'ipv6'
    expect(await stockForRules(db, { groupId, step: 256, rules, family })).toBe(256)
    await reserved({ orderId: nth(orders, 0), groupId, step: 1, rules, quantity: 1, family })
    const lease = await reserved({ orderId: nth(orders, 1), groupId, step: 8, rules, quantity: 8, family })
    const expected = Array.from({ length: 8 }, (_, at) => `2001:db8:0:ff${(8 + at).toString(16).padStart(2, '0')}::1`)
    expect(await ips(lease)).toEqual(expected)
    expect(await leasesOf(db, nth(orders, 1))).toMatchObject([
      { serverId, prefixes: expected.map(ip => `${ip}/128`), addresses: 8 }
    ])
    expect(await addressHolders(db, { ip: '2001:db8:0:ff0b:1:2:3:4' })).toMatchObject([{ orderId: nth(orders, 1) }])
  })
})

describe('the life of a lease', () => {
  it('activates once, counts the delivery, and releases once', async () => {
    const { groupId, cidrIds, orders } = await shop(['10.3.0.0/29'])
    const orderId = nth(orders, 0)
    const lease = await reserved({ orderId, groupId, step: 1, rules, quantity: 3 })
    expect(await activate(db, orderId)).toBe(3)
    expect(await activate(db, orderId)).toBe(0)
    expect((await leasesOf(db, orderId)).map(({ state }) => state)).toEqual(['active'])
    const { rows } = await db.execute(sql`select delivery_count from cidrs where id = ${cidrIds[0]}`)
    expect(rows).toEqual([{ delivery_count: 3 }])
    expect(await release(db, { orderId })).toEqual([lease])
    expect(await release(db, { orderId })).toEqual([])
    expect(await leasesOf(db, orderId)).toEqual([])
    expect(await stockForRules(db, { groupId, step: 8, rules })).toBe(8)
    expect(await ips(lease)).toHaveLength(3)
  })

  it('releases only the given leases', async () => {
    const { groupId, orders } = await shop(['10.3.1.0/29'])
    const orderId = nth(orders, 0)
    const first = await reserved({ orderId, groupId, step: 1, rules, quantity: 3 })
    const second = await reserved({ orderId, groupId, step: 1, rules, quantity: 3 })
    expect(await release(db, { leaseIds: [first] })).toEqual([first])
    expect((await leasesOf(db, orderId)).map(({ leaseId }) => leaseId)).toEqual([second])
    expect(await release(db, { orderIds: [orderId, nth(orders, 1)] })).toEqual([second])
  })

  it('gives other addresses as long as there are any, then those given back longest ago', async () => {
    const { groupId, orders } = await shop(['10.3.2.0/29', '10.3.2.8/29'])
    const orderId = nth(orders, 0)
    const wanted = { orderId, groupId, step: 8, rules, quantity: 8 }
    const first = await reserved(wanted)
    const change = async (from: number) => {
      const next = await reserveOther(db, wanted)
      if (!next.ok) throw new Error(next.reason)
      await release(db, { leaseIds: [from] })
      return next.leaseId
    }
    const second = await change(first)
    expect(await ips(first)).toContain('10.3.2.0')
    expect(await ips(second)).toContain('10.3.2.8')
    expect(await ips(await change(second))).toContain('10.3.2.0')
  })

  it('avoids addresses that the order gave back, also within one chunk', async () => {
    const { groupId, orders } = await shop(['10.3.3.0/28'])
    const orderId = nth(orders, 0)
    const wanted = { orderId, groupId, step: 1, rules, quantity: 6 }
    const seen = new Set<string>()
    let lease = await reserved(wanted)
    for (const expected of [6, 12, 16]) {
      for (const ip of await ips(lease)) seen.add(ip)
      expect(seen.size).toBe(expected)
      const next = await reserveOther(db, wanted)
      if (!next.ok) throw new Error(next.reason)
      await release(db, { leaseIds: [lease] })
      lease = next.leaseId
    }
    expect(await reserveOther(db, { ...wanted, quantity: 11 })).toEqual({ ok: false, reason: 'out_of_stock' })
  })

  it('says who held an address, at an instant and ever', async () => {
    const { groupId, orders } = await shop(['10.3.4.0/28'])
    const [a = 0, b = 0] = rules
    const first = await reserved({ orderId: nth(orders, 0), groupId, step: 8, rules: [a], quantity: 8 })
    await activate(db, nth(orders, 0))
    // A lease that begins and ends within one millisecond is held at no instant of a Date.
    await db.transaction(async tx => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update lease_blocks set leased_at = leased_at - interval '1 hour' where lease_id = ${first}`)
    })
    await release(db, { leaseIds: [first] })
    await reserved({ orderId: nth(orders, 1), groupId, step: 16, rules: [a, b], quantity: 16 })
    const held = await addressHolders(db, { ip: '10.3.4.5' })
    expect(held.map(({ orderId, rules }) => [orderId, rules])).toEqual([
      [nth(orders, 1), [a, b]],
      [nth(orders, 0), [a]]
    ])
    const [now, before] = held
    expect(now?.to).toBeNull()
    expect(now?.activeFrom).toBeNull()
    expect(before?.activeFrom).toBeInstanceOf(Date)
    expect(await addressHolders(db, { ip: '10.3.4.5', at: before?.from ?? new Date(0) })).toEqual([before])
    expect(await addressHolders(db, { ip: '10.3.4.5', at: new Date(0) })).toEqual([])
    expect(await addressHolders(db, { ip: '10.3.4.9' })).toHaveLength(1)
    expect(await addressHolders(db, { ip: '192.0.2.1' })).toEqual([])
  })

  it('leases an address no earlier than it was given back, also in a transaction that began before', async () => {
    const { groupId, orders } = await shop(['10.3.5.0/29'])
    const wanted = { groupId, step: 8, rules: rules.slice(0, 1), quantity: 8 }
    const first = await reserved({ ...wanted, orderId: nth(orders, 0) })
    await db.transaction(async tx => {
      await tx.execute(sql`select now()`)
      await release(db, { leaseIds: [first] })
      expect((await reserve(tx, { ...wanted, orderId: nth(orders, 1) })).ok).toBe(true)
      await activate(tx, nth(orders, 1))
    })
    const { rows } = await db.execute(sql`
      select next.leased_at >= former.released_at as after, l.activated_at >= next.leased_at as active
      from lease_blocks former join lease_blocks next on next.chunk_id = former.chunk_id and next.id > former.id
      join leases l on l.id = next.lease_id where former.lease_id = ${first}`)
    expect(rows).toEqual([{ after: true, active: true }])
  })
})
