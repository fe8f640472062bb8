import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Database, closeDatabase, openDatabase } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from './inventory.fixture.ts'
import {
  addCidr,
  assignCidrs,
  audit,
  cleanUnused,
  excludeRules,
  stockForRules,
  release,
  removeCidr,
  reserve,
  serverCidrs,
  addressHolders
} from './index.ts'

let database: TestDatabase
let db: Database
let rule = 0
let serverId = 0
let groupId = 0
let orderId = 0
let serial = 0

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 4 })
  rule = await addRule(db, 'one')
})

/** Each test has a server, a group and an order of its own, and ranges below 10.<serial>. */
beforeEach(async () => {
  const name = `test ${(serial += 1)}`
  serverId = await addServer(db, name)
  groupId = await addGroup(db, name, [serverId])
  orderId = (await addOrders(db, groupId, 1))[0] ?? 0
})

afterAll(async () => {
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  await closeDatabase(db)
  await database.drop()
})

const net = (rest: string) => `10.${serial}.${rest}`
const assign = (...ranges: string[]) => inTransaction(db, assignCidrs, serverId, ranges)
const stock = () => stockForRules(db, { groupId, step: 1, rules: [rule] })
const lease = () => reserve(db, { orderId, groupId, step: 1, rules: [rule], quantity: 1 })

async function idOf(range: string): Promise<number> {
  const { rows } = await db.execute<{ id: number }>(
    sql`select id from cidrs where cidr = ${range}::cidr order by id desc`
  )
  return rows[0]?.id ?? 0
}

describe('assignCidrs', () => {
  it('makes a server have exactly these ranges', async () => {
    expect(await assign(net('0.0/24'), ` ${net('1.0/25')} `, net('0.0/24'))).toEqual({
      ok: true,
      added: [net('0.0/24'), net('1.0/25')],
      removed: []
    })
    expect(await stock()).toBe(384)
    expect(await assign(net('0.0/24'), net('2.0/31'))).toEqual({
      ok: true,
      added: [net('2.0/31')],
      removed: [net('1.0/25')]
    })
    expect(await serverCidrs(db, serverId)).toEqual([net('0.0/24'), net('2.0/31')])
    expect(await stock()).toBe(258)
  })

  it('takes over a range that no server has, with its exclusions and its count', async () => {
    await assign(net('0.0/24'))
    const id = await idOf(net('0.0/24'))
    await inTransaction(db, excludeRules, id, [rule])
    await assign()
    await assign(net('0.0/24'))
    expect(await idOf(net('0.0/24'))).toBe(id)
    expect(await stock()).toBe(0)
  })

  it('refuses text that is no range, each line by name, and then changes nothing', async () => {
    await assign(net('0.0/24'))
    const refused = await assign(net('1.0/24'), net('2.1/24'), 'nonsense')
    expect(refused).toMatchObject({
      ok: false,
      reason: 'invalid',
      lines: [{ text: net('2.1/24') }, { text: 'nonsense' }]
    })
    expect(await serverCidrs(db, serverId)).toEqual([net('0.0/24')])
  })

  it("refuses another server's addresses, and ranges within each other", async () => {
    const other = await addServer(db, `other ${serial}`)
    await inTransaction(db, addCidr, { cidr: net('0.0/24'), serverId: other })
    expect(await assign(net('0.0/25'))).toEqual({
      ok: false,
      reason: 'overlap',
      cidr: net('0.0/25'),
      with: net('0.0/24'),
      serverId: other
    })
    expect(await assign(net('0.0/24'))).toMatchObject({ ok: false, reason: 'overlap', with: net('0.0/24') })
    // Neither is on a server yet.
    expect(await assign(net('1.0/24'), net('1.128/25'))).toEqual({
      ok: false,
      reason: 'overlap',
      cidr: net('1.0/24'),
      with: net('1.128/25'),
      serverId: null
    })
  })

  it('refuses to leave out a range while addresses of it are leased, naming the orders', async () => {
    await assign(net('0.0/24'))
    await lease()
    expect(await assign(net('1.0/24'))).toEqual({ ok: false, reason: 'leased', cidr: net('0.0/24'), orders: [orderId] })
    expect(await serverCidrs(db, serverId)).toEqual([net('0.0/24')])
    await release(db, { orderId })
    expect(await assign(net('1.0/24'))).toMatchObject({ ok: true })
  })

  it('cuts unleased addresses again', async () => {
    await assign(net('0.0/23'))
    await lease()
    expect(await assign(net('0.0/24'), net('1.0/24'))).toMatchObject({ ok: false, reason: 'leased' })
    await release(db, { orderId })
    expect(await assign(net('0.0/24'), net('1.0/24'))).toEqual({
      ok: true,
      added: [net('0.0/24'), net('1.0/24')],
      removed: [net('0.0/23')]
    })
    expect(await stock()).toBe(512)
    expect(await addressHolders(db, { ip: net('0.0') })).toMatchObject([{ orderId }])
    expect(await assign(net('0.0/23'))).toMatchObject({ ok: true })
    expect(await stock()).toBe(512)
  })
})

describe('adding and removing', () => {
  it('removes a range unless it is leased, and keeps its history', async () => {
    const added = await inTransaction(db, addCidr, { cidr: net('0.0/30'), serverId, excludedRules: [] })
    const cidrId = added.ok ? added.cidrId : 0
    await lease()
    expect(await inTransaction(db, removeCidr, cidrId)).toEqual({
      ok: false,
      reason: 'leased',
      cidr: net('0.0/30'),
      orders: [orderId]
    })
    await release(db, { orderId })
    expect(await inTransaction(db, removeCidr, cidrId)).toEqual({ ok: true })
    expect(await inTransaction(db, removeCidr, cidrId)).toEqual({ ok: false, reason: 'not_found' })
    expect(await stock()).toBe(0)
    expect(await addressHolders(db, { ip: net('0.0') })).toMatchObject([{ orderId }])
    expect(await inTransaction(db, addCidr, { cidr: net('0.0/30'), serverId })).toEqual({ ok: true, cidrId })
    expect(await stock()).toBe(4)
  })

  it('sells a range only to rules that are on sale when it comes back', async () => {
    const added = await inTransaction(db, addCidr, { cidr: net('0.0/30'), serverId })
    await lease()
    await release(db, { orderId })
    await inTransaction(db, removeCidr, added.ok ? added.cidrId : 0)
    const late = await addRule(db, `late ${serial}`)
    await inTransaction(db, addCidr, { cidr: net('0.0/30'), serverId })
    expect(await stockForRules(db, { groupId, step: 1, rules: [rule, late] })).toBe(4)
  })

  it('cleans ranges without a server or leases', async () => {
    await inTransaction(db, cleanUnused)
    await assign(net('0.0/24'), net('1.0/24'))
    await assign(net('0.0/24'))
    const idle = { id: await idOf(net('1.0/24')), cidr: net('1.0/24'), deliveryCount: 0 }
    expect(await inTransaction(db, cleanUnused)).toEqual({ removed: [idle], kept: [] })
    await lease()
    await db.execute(sql`update servers set deleted_at = now() where id = ${serverId}`)
    const left = { id: await idOf(net('0.0/24')), cidr: net('0.0/24'), deliveryCount: 0 }
    expect(await inTransaction(db, cleanUnused)).toEqual({ removed: [], kept: [] })
    expect(await inTransaction(db, cleanUnused, { ofServers: [serverId] })).toEqual({ removed: [], kept: [left] })
    await release(db, { orderId })
    expect(await inTransaction(db, cleanUnused, { ofServers: [serverId] })).toEqual({ removed: [left], kept: [] })
  })

  it('excludes only rules that exist, of ranges that exist', async () => {
    expect(await inTransaction(db, excludeRules, 0, [rule])).toEqual({ ok: false, reason: 'not_found' })
    await assign(net('0.0/24'))
    expect(await inTransaction(db, excludeRules, await idOf(net('0.0/24')), [9999, rule])).toEqual({
      ok: false,
      reason: 'unknown_rules',
      rules: [9999]
    })
  })
})
