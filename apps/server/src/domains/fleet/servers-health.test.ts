import type { Provisioning } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import type { TestShop } from '../../testing/shop.ts'
import { addTestServer, startFleetShop } from './fleet.fixture.ts'
import { countTroubledServers } from './index.ts'
import { serversHealth } from './servers-health.ts'
import { servers } from './tables.ts'

let world: TestShop
let admin: TestClient
let id: number

beforeAll(async () => {
  world = await startFleetShop()
  admin = await world.admin()
  id = await addTestServer(world.ctx, 'one')
})
afterAll(() => world?.close())

type Row = Partial<typeof servers.$inferInsert>
const AT = '2026-03-01T12:00:00.000Z'
const failed: Omit<Provisioning, 'cancelling'> = {
  status: 'failed',
  step: 'start',
  message: 'no space',
  at: AT,
  run_init: true,
  steps: []
}
const well: Row = {
  status: 'active',
  connected: true,
  trouble: null,
  troubleParams: null,
  failingSince: null,
  refusedRanges: [],
  provisioning: null
}
const silent: Row = { ...well, connected: false, unreachableSince: new Date(AT) }

test.each<[string, Row, string | null]>([
  ['a server that answers', well, null],
  ['one that is silent', silent, 'unreachable'],
  ['one that is silent and was given up', { ...silent, status: 'given_up' }, null],
  [
    'one whose token cannot be read',
    { ...well, trouble: 'token_unreadable', troubleParams: {} },
    'The stored agent token'
  ],
  ['one whose changes fail', { ...well, failingSince: new Date(AT) }, 'What is sent to the agent fails'],
  ['one that refuses a range', { ...well, refusedRanges: ['127.90.0.0/28'] }, 'did not take its ranges: 127.90.0.0/28'],
  ['one whose installation failed', { ...well, provisioning: failed }, 'The last installation failed: no space'],
  ['one that was given up after a failed installation', { ...well, provisioning: failed, status: 'given_up' }, null]
])(
  '%s is in trouble for the list, for the first screen and for the health page, or for none of them',
  async (_, row, why) => {
    const { db } = world.ctx
    await db.update(servers).set(row).where(eq(servers.id, id))
    const listed = await admin.get<{ total: number }>('/api/servers/servers/?state=trouble')
    const health = await serversHealth(db, new Date())
    const told = [...health.unreachable.map(() => 'unreachable'), ...health.troubled.map(({ message }) => message)]
    expect(told).toEqual(why === null ? [] : [expect.stringContaining(why) as string])
    expect([listed.data.total, await countTroubledServers(db)]).toEqual([told.length, told.length])
    expect(health.total).toBe(row.status === 'given_up' ? 0 : 1)
  }
)
