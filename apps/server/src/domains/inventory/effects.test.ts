import type { RuleEffect, RuleConflicts } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { addStock, ruleCalls } from './rule-calls.fixture.ts'
import { activate, reserve } from './leasing.ts'
import { inventoryRoutes } from './routes.ts'

let world: TestShop
let admin: TestClient
let rule: number
let other: number

beforeAll(async () => {
  world = await startTestShop({
    routes: (mount, shop) => inventoryRoutes(mount, shop, { onRulesChanged: () => undefined })
  })
  admin = await world.admin()
  const { db } = world.ctx
  const calls = ruleCalls(admin)
  rule = await calls.add('Cars', ['cars.example', 'wheels.example'])
  other = await calls.add('Boats', ['boats.example'])
  const { groupId, orders } = await addStock(db, 'here', { cidr: '10.1.0.0/24', orders: 3 })
  const take = (nth: number, rules: number[], quantity: number) =>
    db.transaction(tx => reserve(tx, { orderId: orders[nth] ?? 0, groupId, step: 8, rules, quantity }))
  await take(0, [rule], 16)
  await activate(db, orders[0] ?? 0)
  await take(1, [rule], 8)
  await take(2, [other], 8)
  await activate(db, orders[2] ?? 0)
  await admin.post('/api/servers/acl-groups/', { name: 'Vehicles', description: 'd', acls: [rule, other] })
})
afterAll(() => world?.close())

const check = async (body: object) =>
  (await admin.post<RuleConflicts & { effect: RuleEffect }>('/api/servers/acls/check/', body)).data.effect

test('the effect of deleting a rule is shown in figures', async () => {
  const reply = await admin.get<RuleEffect>(`/api/servers/acls/${rule}/effect/`)
  expect(reply.data).toMatchObject({
    orders: 2,
    unpaid: 1,
    addresses: 24,
    free: 256 - 24,
    added: 0,
    removed: 2,
    others: 1,
    agents: 1,
    groups: [{ name: 'Vehicles' }]
  })
  expect((await admin.get('/api/servers/acls/999999/effect/')).code).toBe(404)
})

test('the effect of another list of domains is shown with its check', async () => {
  const same = await check({ id: rule, acl_value: 'wheels.example\ncars.example' })
  expect(same).toMatchObject({ orders: 2, added: 0, removed: 0, others: 0, agents: 0 })
  const changed = await check({ id: rule, acl_value: 'cars.example\nvans.example\ntrucks.example' })
  expect(changed).toMatchObject({ orders: 2, added: 2, removed: 1, others: 1, agents: 1 })
})

test('a new rule comes into stock on every address of a server', async () => {
  expect(await check({ name: 'Trains', acl_value: 'trains.example' })).toMatchObject({
    orders: 0,
    addresses: 0,
    free: 256,
    added: 1,
    others: 3,
    groups: []
  })
})

test('addresses that a rule with a site in common holds are not free', async () => {
  const made = await ruleCalls(admin).add('All cars', ['example.org'])
  const narrow = await ruleCalls(admin).post('Some cars', ['cars.example.org'], [{ rule_id: made, winner: 'broad' }])
  expect(narrow.code).toBe(2000)
  const { db } = world.ctx
  const { groupId, orders } = await addStock(db, 'there', { cidr: '10.2.0.0/24', orders: 1 })
  await db.transaction(tx => reserve(tx, { orderId: orders[0] ?? 0, groupId, step: 8, rules: [made], quantity: 8 }))
  const effect = await admin.get<RuleEffect>(`/api/servers/acls/${narrow.data.id}/effect/`)
  expect(effect.data).toMatchObject({ orders: 0, free: 512 - 8 })
})
