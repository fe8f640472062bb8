import type { Cidr } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import type { TestShop } from '../../testing/shop.ts'
import { addGroup, addOrders, addRule, addServer } from '../inventory/fixtures.ts'
import { activate, addCidr, assignCidrs, lockInventory, reserve } from '../inventory/index.ts'
import { audited, startFleetShop } from './fleet.fixture.ts'

let world: TestShop
let admin: TestClient

beforeAll(async () => {
  world = await startFleetShop()
  admin = await world.admin()
})

afterAll(() => world?.close())

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
    await db.transaction(async tx => {
      await assignCidrs({ tx }, owner, ['127.90.1.0/24', '127.90.0.0/24', '127.91.0.0/26'])
      await assignCidrs({ tx }, gone, ['127.92.0.0/24'])
      await addCidr({ tx }, { cidr: '127.93.0.0/24', serverId: null })
    })
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

  test('what no server has is cleaned; what is leased, or a server’s own, stays', async () => {
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
    // What was agreed to is not what would go: nothing goes.
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
