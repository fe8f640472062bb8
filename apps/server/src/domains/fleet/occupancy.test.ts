import type { Occupancy, RangeEffect } from '@netlet/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import type { TestShop } from '../../testing/shop.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from '../inventory/fixtures.ts'
import { activate, addCidr, release, reserve } from '../inventory/index.ts'
import { writeSettings } from '../settings/index.ts'
import { startFleetShop } from './fleet.fixture.ts'

let world: TestShop
let admin: TestClient
let range: number
let rules: { sport: number; news: number }
let orders: number[]

const path = (more = '') => `/api/servers/cidrs/${range}/blocks/${more}`
const blocks = async (more = '') => (await admin.get<Occupancy>(path(more))).data
const nth = (at: number) => orders[at] ?? 0

beforeAll(async () => {
  world = await startFleetShop()
  admin = await world.admin()
  const { db } = world.ctx
  const serverId = await addServer(db, 'edge')
  const groupId = await addGroup(db, 'all', [serverId])
  rules = { sport: await addRule(db, 'Sport'), news: await addRule(db, 'News') }
  const added = await inTransaction(db, addCidr, { cidr: '127.80.0.0/20', serverId })
  if (!added.ok) throw new Error(added.reason)
  range = added.cidrId
  orders = await addOrders(db, groupId, 3)
  await writeSettings(world.ctx, { quarantine_hours: 24 })
  const take = (at: number, rule: number, step: number) =>
    db.transaction(tx => reserve(tx, { orderId: nth(at), groupId, step, rules: [rule], quantity: step }))
  // 64 leased, then 8 held under one rule; 8 that rest under the other.
  await take(0, rules.sport, 64)
  await activate(db, nth(0))
  await take(1, rules.sport, 8)
  await take(2, rules.news, 8)
  await activate(db, nth(2))
  await release(db, { orderId: nth(2) })
})

afterAll(() => world?.close())
const usage = { leased: 0, held: 0, resting: 0, blocked: 0, free: 0 }

describe('the picture of a range', () => {
  test('has at most 256 blocks, and counts each address once', async () => {
    const picture = await blocks()
    expect(picture).toMatchObject({
      cidr: '127.80.0.0/20',
      part: '127.80.0.0/20',
      server: { name: 'edge' },
      units: 4096,
      block_units: 16,
      rule: null
    })
    expect(picture.blocks).toHaveLength(256)
    expect(picture.blocks.slice(0, 6)).toEqual([
      { part: '127.80.0.0/28', ...usage, leased: 16 },
      { part: '127.80.0.16/28', ...usage, leased: 16 },
      { part: '127.80.0.32/28', ...usage, leased: 16 },
      { part: '127.80.0.48/28', ...usage, leased: 16 },
      { part: '127.80.0.64/28', ...usage, held: 8, free: 8 },
      { part: '127.80.0.80/28', ...usage, free: 16 }
    ])
  })

  test('says by rule what is leased, held, resting and free', async () => {
    const { rules: byRule } = await blocks()
    expect(byRule.map(({ name, leased, held, resting, free }) => [name, leased, held, resting, free])).toEqual([
      ['Sport', 64, 8, 0, 4024],
      ['News', 0, 0, 8, 4088]
    ])
  })

  test('is of one rule where one is chosen, down to single addresses', async () => {
    const picture = await blocks(`?rule=${rules.news}&part=127.80.0.0/28`)
    expect(picture).toMatchObject({ part: '127.80.0.0/28', block_units: 1, rule: { name: 'News' } })
    expect(picture.blocks).toHaveLength(16)
    expect(picture.blocks[7]).toEqual({ part: '127.80.0.7', ...usage, resting: 1 })
    expect(picture.blocks[8]).toEqual({ part: '127.80.0.8', ...usage, free: 1 })
  })

  test.each(['127.81.0.0/24', '2001:db8::/64', 'x', '127.80.0.0/19'])('refuses the part %s', async part => {
    expect((await admin.get(path(`?part=${part}`))).code).toBe(400)
  })

  test('refuses ranges and rules that are not there', async () => {
    expect((await admin.get('/api/servers/cidrs/999999/blocks/')).code).toBe(404)
    expect((await admin.get(path('?rule=999999'))).code).toBe(404)
  })
})

describe('excluding rules from a range', () => {
  const effect = async (exclude: number[]) =>
    (await admin.post<RangeEffect>(`/api/servers/cidrs/${range}/effect/`, { exclude_acl: exclude })).data

  test('is told before: what leaves stock, and which orders run on', async () => {
    expect(await effect([rules.sport])).toEqual({
      sells: true,
      excluded: [{ id: rules.sport, name: 'Sport', free: 4024, leased: 72, orders: 2 }],
      allowed: [],
      orders: 2
    })
    expect(await effect([])).toEqual({ sells: true, excluded: [], allowed: [], orders: 0 })
  })

  test('and what comes back into it', async () => {
    const [listed] = (await admin.get<{ data: { version: string }[] }>('/api/servers/cidrs/?search=127.80')).data.data
    await admin.put(`/api/servers/cidrs/${range}/`, { exclude_acl: [rules.news], version: listed?.version })
    expect(await effect([])).toMatchObject({
      excluded: [],
      allowed: [{ id: rules.news, name: 'News', free: 4088 }]
    })
    expect((await blocks()).rules.map(({ excluded }) => excluded)).toEqual([false, true])
  })

  test('of rules that are gone is refused', async () => {
    const reply = await admin.post(`/api/servers/cidrs/${range}/effect/`, { exclude_acl: [999_999] })
    expect(reply.code).toBe(400)
  })
})
