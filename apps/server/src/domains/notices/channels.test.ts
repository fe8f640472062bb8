import type { NoticeChannel } from '@netlet/contract'
import { desc } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { openWorld, SECRET, type World } from './notices.fixture.ts'

let world: World
let boss: Awaited<ReturnType<World['shop']['admin']>>
beforeAll(async () => {
  world = await openWorld()
  boss = await world.shop.admin()
})
afterAll(() => world?.close())
beforeEach(() => world.clear())

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const target = (query: string) => `${world.receiver.url}/hook?${query}`
const put = (id: number, change: object) =>
  boss.put<NoticeChannel>(`/api/settings/notices/channels/${id}/`, { name: 'Receiver', kind: 'webhook', ...change })
const lastEntry = async () => {
  const [entry] = await world.ctx.db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1)
  return entry
}

test('another address on the same host is another version, and the audit log says so without naming it', async () => {
  const { id, version } = await world.channel({ target: target('room=1') })
  const { data: moved, code } = await put(id, { target: target('room=2'), version })
  expect(code).toBe(2000)
  expect(moved.version).not.toBe(version)
  const entry = await lastEntry()
  expect(entry).toMatchObject({ action: 'notice_channel.edit', after: { new_target: true } })
  expect(entry?.after).not.toHaveProperty('has_new_secret')
  expect(JSON.stringify(entry)).not.toContain('room=')
  // The form of another operator, opened before that, does not undo it.
  expect(await put(id, { target: target('room=3'), version })).toMatchObject({ data: { reason: 'stale' } })
  expect(JSON.stringify(moved)).not.toContain('room=')
})

test('so is another secret; what is entered again, or left empty, replaces nothing', async () => {
  const { id, version } = await world.channel({ target: target('room=1') })
  const same = await put(id, { target: target('room=1'), secret: SECRET, tell_info: true, version })
  const left = await put(id, { tell_info: true, version: same.data.version })
  expect(left.data.version).toBe(same.data.version)
  expect((await lastEntry())?.after).not.toHaveProperty('new_target')
  const other = await put(id, { secret: OTHER_SECRET, tell_info: true, version: left.data.version })
  expect(other.data.version).not.toBe(left.data.version)
  const entry = await lastEntry()
  expect(entry).toMatchObject({ after: { has_new_secret: true } })
  expect(JSON.stringify(entry)).not.toContain(OTHER_SECRET)
})
