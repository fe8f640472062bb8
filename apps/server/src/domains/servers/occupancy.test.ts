import type { Occupancy, RangeEffect, Cidr } from '@netlet/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { addGroup, addOrders, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { activate, addCidr, release, reserve, assignCidrs, lockInventory } from '../inventory/index.ts'
import { writeSettings } from '../settings/index.ts'
import { startFleetShop, audited } from '../convergence/fleet.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import { sql } from '../../infra/db/drizzle.ts'

const world = useStarted(startFleetShop)
const admin = useStarted(() => world.admin())
let range: number
let rules: { sport: number; news: number }
let orders: number[]

const path = (more = '') => `/api/servers/cidrs/${range}/blocks/${more}`
const blocks = async (more = '') => (await admin.get<Occupancy>(path(more))).data
const nth = (at: number) => orders[at] ?? 0

beforeAll(async () => {
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
  // 64 leased, then 8 reserved under one rule, and 8 at rest under the other.
  await take(0, rules.sport, 64)
  await activate(db, nth(0))
  await take(1, rules.sport, 8)
  await take(2, rules.news, 8)
  await activate(db, nth(2))
  await release(db, { orderId: nth(2) })
})

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

  test('says by rule how many are leased, held, resting and free', async () => {
    const { rules: byRule } = await blocks()
    expect(byRule.map(({ name, leased, held, resting, free }) => [name, leased, held, resting, free])).toEqual([
      ['Sport', 64, 8, 0, 4024],
      ['News', 0, 0, 8, 4088]
    ])
  })

  test('covers one rule if one is chosen, down to single addresses', async () => {
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

  test('is shown in advance: which addresses leave stock, and which orders run on', async () => {
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
    expect(await effect([])).toMatchObject({ excluded: [], allowed: [{ id: rules.news, name: 'News', free: 4088 }] })
    expect((await blocks()).rules.map(({ excluded }) => excluded)).toEqual([false, true])
  })

  test('of rules that are gone is refused', async () => {
    const reply = await admin.post(`/api/servers/cidrs/${range}/effect/`, { exclude_acl: [999_999] })
    expect(reply.code).toBe(400)
  })
})

type Page<T> = { data: T[]; total: number }

describe('CIDRs', () => {
  const list = async (query: string) => (await admin.get<Page<Cidr>>(`/api/servers/cidrs/?${query}`)).data
  const names = async (query: string) => (await list(`search=127.9&${query}`)).data.map(range => range.cidr)
  let owner: number
  let excluded: number

  beforeAll(async () => {
    const { db } = world.ctx
    owner = await addServer(db, 'owner')
    const gone = await addServer(db, 'gone')
    excluded = await addRule(db, 'Excluded')
    await inTransaction(db, assignCidrs, owner, ['127.90.1.0/24', '127.90.0.0/24', '127.91.0.0/26'])
    await inTransaction(db, assignCidrs, gone, ['127.92.0.0/24'])
    await inTransaction(db, addCidr, { cidr: '127.93.0.0/24', serverId: null })
    await db.execute(sql`update servers set deleted_at = now() where id = ${gone}`)
    await db.execute(sql`update cidrs set delivery_count = 101 where cidr = '127.90.0.0/24'`)
    await db.execute(sql`update cidrs set delivery_count = 1001 where cidr = '127.91.0.0/26'`)
  })

  test('are filtered by count, server, missing server and excluded rule, and sorted', async () => {
    const all = ['127.90.0.0/24', '127.90.1.0/24', '127.91.0.0/26', '127.92.0.0/24', '127.93.0.0/24']
    expect(await names('sort_by=cidr')).toEqual(all)
    expect(await names('sort_by=cidr&sort_order=desc')).toEqual(all.toReversed())
    expect(await names('sort_by=delivery_count&sort_order=desc&limit=2')).toEqual(['127.91.0.0/26', '127.90.0.0/24'])
    expect(await names('delivery_count_min=100&sort_by=cidr')).toEqual(['127.90.0.0/24', '127.91.0.0/26'])
    expect(await names('delivery_count_min=500')).toEqual(['127.91.0.0/26'])
    expect(await names('delivery_count_exact=0&sort_by=cidr')).toEqual([
      '127.90.1.0/24',
      '127.92.0.0/24',
      '127.93.0.0/24'
    ])
    expect(await names('unreferenced=true&sort_by=cidr')).toEqual(['127.92.0.0/24', '127.93.0.0/24'])
    expect(await names(`server_id=${owner}&sort_by=cidr`)).toEqual(all.slice(0, 3))
    expect((await list('search=127.9')).total).toBe(5)
    expect((await list('search=127.91')).data[0]).toMatchObject({
      ip_count: 64,
      delivery_count: 1001,
      server_ids: [owner],
      servers: [{ id: owner, name: 'owner' }],
      exclude_acl: []
    })
    expect((await admin.get('/api/servers/cidrs/?sort_by=password')).code).toBe(400)
  })

  test('only the excluded rules are edited', async () => {
    const [range] = (await list('search=127.90.1')).data
    const path = `/api/servers/cidrs/${range?.id}/`
    expect((await admin.put<Cidr>(path, { exclude_acl: [excluded], cidr: '10.0.0.0/8' })).data).toMatchObject({
      cidr: '127.90.1.0/24',
      exclude_acl: [{ id: excluded, name: 'Excluded' }]
    })
    expect(await names(`exclude_acl=${excluded}`)).toEqual(['127.90.1.0/24'])
    expect(await names(`sold_with=${excluded}`)).not.toContain('127.90.1.0/24')
    expect(await names(`sold_with=${excluded}`)).not.toEqual([])
    expect((await audited(world.ctx, 'cidr.edit'))[0]).toMatchObject({
      targetId: String(range?.id),
      before: { exclude_acl: [] },
      after: { exclude_acl: [{ id: excluded }] }
    })
    expect((await admin.put(path, { exclude_acl: [999_999] })).code).toBe(400)
    expect((await admin.put('/api/servers/cidrs/999999/', { exclude_acl: [] })).code).toBe(404)
  })

  test('ranges without a server are cleaned; leased ranges, and those of a server, stay', async () => {
    const { db } = world.ctx
    const groupId = await addGroup(db, 'cleaning', [owner])
    const [orderId = 0] = await addOrders(db, groupId, 1)
    await db.transaction(async tx => {
      await reserve(tx, { orderId, groupId, step: 64, rules: [excluded], quantity: 64 })
      await activate(tx, orderId)
    })
    const clean = (body?: object) =>
      admin.post<{ deleted_count: number; results: object; cidr_details: { cidr: string }[] }>(
        '/api/servers/cidrs/clean_unused/',
        body
      )
    const planned = async (query = '') =>
      (
        await admin.get<{ count: number; cidrs: { cidr: string }[]; plan: string }>(
          `/api/servers/cidrs/unused/${query}`
        )
      ).data
    const both = await planned('?include_soft_deleted=true')
    expect(both).toMatchObject({ count: 2, cidrs: [{ cidr: '127.92.0.0/24' }, { cidr: '127.93.0.0/24' }] })
    expect(await planned()).toMatchObject({ count: 1, cidrs: [{ cidr: '127.93.0.0/24' }] })
    expect((await planned()).plan).not.toBe(both.plan)
    expect(await names('sort_by=cidr')).toHaveLength(5)
    // Other ranges would go than were approved, so nothing goes.
    expect(await clean({ plan: both.plan })).toMatchObject({ status: 409, data: { reason: 'stale' } })
    expect(await names('sort_by=cidr')).toHaveLength(5)
    expect((await clean({ plan: (await planned()).plan })).data).toMatchObject({
      deleted_count: 1,
      cidr_details: [{ cidr: '127.93.0.0/24' }]
    })
    const all = await clean({ include_soft_deleted: true })
    expect(all.data).toMatchObject({
      deleted_count: 1,
      results: { deleted_count: 1 },
      cidr_details: [{ cidr: '127.92.0.0/24' }]
    })
    expect((await clean({ include_soft_deleted: true })).data.deleted_count).toBe(0)
    expect((await audited(world.ctx, 'cidr.clean')).map(entry => entry.before)).toMatchObject([
      [{ cidr: '127.92.0.0/24' }],
      [{ cidr: '127.93.0.0/24' }]
    ])
    expect(await names('sort_by=cidr')).toHaveLength(3)
  })

  test('what cleaning would remove is read while others hold the lock of the inventory', async () => {
    await world.ctx.db.transaction(async tx => {
      await lockInventory(tx)
      expect((await admin.get('/api/servers/cidrs/unused/?include_soft_deleted=1')).code).toBe(2000)
    })
  })
})
