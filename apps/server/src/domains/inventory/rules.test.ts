import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, closeDatabase, openDatabase, violatedConstraint } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { addGroup, addOrders, addServer, inTransaction } from './inventory.fixture.ts'
import {
  addCidr,
  audit,
  createRule,
  deleteRule,
  deniedDomains,
  liveRules,
  stockByRule,
  release,
  reserve,
  updateRule
} from './index.ts'
import { variantOf } from './rule-calls.fixture.ts'
import { RULE_NAME } from './rules.ts'

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 4 })
})

afterAll(async () => {
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  await closeDatabase(db)
  await database.drop()
})

const input = (name: string, aclValue: string) => ({
  name,
  description: 'd',
  price: '1.50',
  platformVariantId: variantOf(name),
  aclValue
})

async function create(name: string, aclValue: string): Promise<number> {
  const created = await inTransaction(db, createRule, input(name, aclValue))
  if (!created.ok) throw new Error(created.reason)
  return created.rule.id
}

describe('a rule', () => {
  it('is in stock at once on ranges that were there before', async () => {
    const serverId = await addServer(db, 'stock')
    const groupId = await addGroup(db, 'stock', [serverId])
    await inTransaction(db, addCidr, { cidr: '10.0.0.0/24', serverId })
    const ruleId = await create('stock', 'stock.example')
    expect((await stockByRule(db, { groupId, step: 256 })).find(rule => rule.ruleId === ruleId)?.stock).toBe(256)
  })

  it('has a name of its own among those on sale, in upper or lower case', async () => {
    const id = await create('Twice', 'twice.example')
    const taken = async (write: Promise<unknown>) => violatedConstraint(await write.catch((error: unknown) => error))
    expect(await taken(create('twice', 'two.example'))).toBe(RULE_NAME)
    const other = await create('other', 'other.example')
    expect(await taken(inTransaction(db, updateRule, other, input('TWICE', 'other.example')))).toBe(RULE_NAME)
    await inTransaction(db, deleteRule, id)
    expect(await create('twice', 'twice.example')).toBeGreaterThan(id)
  })

  it('names the lines that are no domains', async () => {
    const refused = await inTransaction(db, createRule, input('junk', 'fine.example\nno domain'))
    expect(refused).toMatchObject({ ok: false, reason: 'invalid_lines', lines: [{ line: 2 }] })
  })

  it('says whether the agents need new deny lists', async () => {
    const id = await create('edit', '# mine\nedit.example')
    const cosmetic = await inTransaction(db, updateRule, id, { ...input('edit', 'EDIT.example'), price: '2.00' })
    expect(cosmetic).toMatchObject({
      ok: true,
      denialsChanged: false,
      rule: { price: '2.00', aclValue: 'EDIT.example' }
    })
    expect(await inTransaction(db, updateRule, id, input('edit', 'edit.example\nmore.example'))).toMatchObject({
      denialsChanged: true
    })
    expect(await inTransaction(db, updateRule, 9999, input('none', 'none.example'))).toEqual({
      ok: false,
      reason: 'not_found'
    })
  })

  it('is deleted only when nothing is leased under it', async () => {
    const serverId = await addServer(db, 'delete')
    const groupId = await addGroup(db, 'delete', [serverId])
    await inTransaction(db, addCidr, { cidr: '10.1.0.0/24', serverId })
    const [orderId = 0] = await addOrders(db, groupId, 1)
    const id = await create('delete', 'delete.example')
    await reserve(db, { orderId, groupId, step: 1, rules: [id], quantity: 1 })
    expect(await inTransaction(db, deleteRule, id)).toEqual({ ok: false, reason: 'leased', orders: [orderId] })
    await release(db, { orderId })
    expect(await inTransaction(db, deleteRule, id)).toEqual({ ok: true })
    expect(await inTransaction(db, deleteRule, id)).toEqual({ ok: false, reason: 'not_found' })
    expect((await liveRules(db)).some(rule => rule.id === id)).toBe(false)
    expect((await reserve(db, { orderId, groupId, step: 1, rules: [id], quantity: 1 })).ok).toBe(false)
  })
})

it('denies the domains of all rules on sale but those bought', async () => {
  for (const rule of await liveRules(db)) await inTransaction(db, deleteRule, rule.id)
  const search = await create('search', 'search.example\nshared.example')
  const shop = await create('shop', 'shop.example')
  const gone = await create('gone', 'gone.example')
  await inTransaction(db, deleteRule, gone)
  const denied = async (...bought: number[]) => deniedDomains(db, { bought })
  expect(await denied()).toEqual({ denied: ['search.example', 'shared.example', 'shop.example'], allowed: [] })
  expect(await denied(shop)).toEqual({ denied: ['search.example', 'shared.example'], allowed: [] })
  expect(await denied(shop, search)).toEqual({ denied: [], allowed: [] })
})
