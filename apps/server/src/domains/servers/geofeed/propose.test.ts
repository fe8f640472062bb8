import type { AuditEntry, GeofeedProposal, Page } from '@netlet/contract'
import { eq } from '../../../infra/db/drizzle.ts'
import { beforeAll, expect, test } from 'vitest'
import { startTestShop } from '../../../testing/shop.ts'
import { writeSettings } from '../../settings/index.ts'
import { cidrs } from '../../inventory/tables.ts'
import { serverGroups, serverGroupServers, servers } from '../tables.ts'
import { useStarted } from '../../../testing/use-started.ts'
import { addRows } from '../../../testing/rows.ts'

const shop = useStarted(() => startTestShop({}))
const admin = useStarted(() => shop.admin())
let ids: number[]

beforeAll(async () => {
  const { db } = shop.ctx
  const rows = await addRows(
    shop.ctx,
    servers,
    ['ny', 'ldn', 'both', 'gone'].map((name, at) => ({ name, ip: `203.0.113.${at + 1}` }))
  )
  ids = rows.map(({ id }) => id)
  const [ny = 0, ldn = 0, both = 0, gone = 0] = ids
  await db.update(servers).set({ status: 'given_up' }).where(eq(servers.id, gone))
  await addRows(shop.ctx, cidrs, [
    { cidr: '198.51.100.0/25', serverId: ny },
    { cidr: '2001:db8:1::/48', serverId: ny },
    { cidr: '198.51.100.128/25', serverId: ldn },
    { cidr: '203.0.113.0/26', serverId: both },
    { cidr: '203.0.113.64/26', serverId: gone }
  ])
  const groups = await addRows(shop.ctx, serverGroups, [{ name: 'ISP · New York' }, { name: 'London DC' }])
  const [america = 0, europe = 0] = groups.map(({ id }) => id)
  await db.insert(serverGroupServers).values([
    { groupId: america, serverId: ny },
    { groupId: europe, serverId: ldn },
    { groupId: america, serverId: both },
    { groupId: europe, serverId: both }
  ])
})

const propose = async () => (await admin.get<GeofeedProposal>('/api/servers/geofeed/')).data
const say = (...places: object[]) => admin.put('/api/servers/places/', { places })

test('the proposal names each range of servers with a known place, and differs from the saved file by lines', async () => {
  const [ny, ldn, both] = ids
  await writeSettings(shop.ctx, {
    geofeed: [
      '# ours',
      '198.51.100.0/25,US,US-NY,New York, # first',
      '198.51.100.128/25,FR,FR-75C,Paris,',
      '198.51.100.192/28,IE,IE-D,Dublin,',
      '203.0.113.0/26,DE,,,',
      '192.0.2.0/24,JP,JP-13,Tokyo,'
    ].join('\n')
  })
  const before = await propose()
  expect(before.servers).toMatchObject([
    { id: ny, ranges: 2, place: null, guess: { country: 'US', region: 'US-NY', city: 'New York' } },
    { id: ldn, groups: ['London DC'], guess: { country: 'GB', city: 'London' } },
    // Its groups do not agree, so an operator has to decide.
    { id: both, groups: ['ISP · New York', 'London DC'], guess: null }
  ])
  // Lines of foreign ranges go. Ranges of servers without a place stay as they are.
  expect(before).toMatchObject({ same: 0, kept: 4, changes: [{ kind: 'removed', prefix: '192.0.2.0/24' }] })

  const london = { country: 'gb', region: 'GB-LND', city: 'London', postal: '' }
  const saved = await say(
    { server_id: ny, country: 'US', region: 'US-NY', city: 'New York' },
    { server_id: ldn, ...london }
  )
  expect(saved.code).toBe(2000)
  expect(await propose()).toMatchObject({
    same: 1,
    kept: 2,
    changes: [
      {
        kind: 'added',
        prefix: '2001:db8:1::/48',
        saved: null,
        proposed: '2001:db8:1::/48,US,US-NY,New York,',
        server: 'ny'
      },
      {
        kind: 'changed',
        prefix: '198.51.100.128/25',
        saved: '198.51.100.128/25,FR,FR-75C,Paris,',
        proposed: '198.51.100.128/25,GB,GB-LND,London,'
      },
      { kind: 'removed', prefix: '192.0.2.0/24', saved: '192.0.2.0/24,JP,JP-13,Tokyo,', proposed: null }
    ]
  })
  // Repeating it writes nothing. Each change is written, by server.
  await say({ server_id: ldn, ...london })
  const log = await admin.get<Page<AuditEntry>>('/api/settings/audit_log/?verb=place')
  expect(log.data.data.map(({ action, target_id }) => [action, Number(target_id)])).toEqual([
    ['server.place', ldn],
    ['server.place', ny]
  ])
  await say({ server_id: ldn, country: '' })
  expect((await propose()).servers[1]?.place).toBeNull()
})

test('a place that no line could say is refused, and nothing of the form is saved', async () => {
  const [ny = 0] = ids
  const wrong = [
    { country: 'USA' },
    { country: 'XX', region: 'US-NY' },
    { country: '', region: 'US-NY' },
    { country: 'US', city: 'New York, NY' },
    { country: 'US', city: 'a\nb' },
    { country: 'US', postal: '#1' }
  ]
  for (const place of wrong) expect([place, (await say({ server_id: ny, ...place })).status]).toEqual([place, 400])
  const before = await propose()
  const other = { server_id: ny, country: 'NL' }
  expect((await say(other, { server_id: 999_999, country: 'NL' })).status).toBe(404)
  expect((await say(other, { server_id: ny, country: 'N1' })).status).toBe(400)
  expect(await propose()).toEqual(before)
})
