import { sql } from '../../infra/db/drizzle.ts'
import { drizzle } from 'drizzle-orm/node-postgres'
import { beforeEach, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { openRaisedNotice, sendDigests } from './jobs.ts'
import { type Found, raiseNotice } from './found.ts'
import { openWorld } from './notices.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'

type Digest = { data: { notices: { cause: string }[] } }

const world = useStarted(openWorld)
beforeEach(async () => {
  await world.clear()
  await world.rules({})
  world.at('2026-06-15T12:00:00Z')
})

const down = (subject: string): Found => ({
  subject,
  words: 'server_down',
  params: { server: `s${subject}`, ip: '192.0.2.1', since: '–', message: 'ECONNREFUSED' }
})
const undelivered = (count: number): Found => ({
  subject: '',
  words: 'undelivered',
  params: { count, minutes: 15, since: '–' },
  count
})
const tellAll = async () => {
  await world.watch()
  await world.sendDue()
  return world.said()
}

test('a lasting problem is sent once, by any number of workers, and again when it ends', async () => {
  await world.channel()
  world.found.set('server_down', [down('1')])
  await Promise.all([world.watch(), world.watch(), world.watch()])
  await Promise.all([world.sendDue('a'), world.sendDue('b')])
  expect(world.said()).toEqual(['notice.opened'])
  world.pass(MINUTE)
  expect(await tellAll()).toEqual([])
  // Another subject of the same cause is another notice.
  world.found.set('server_down', [down('1'), down('2')])
  expect(await tellAll()).toEqual(['notice.opened'])
  world.pass(MINUTE)
  world.found.set('server_down', [down('2')])
  expect(await tellAll()).toEqual(['notice.ended'])
  expect((await world.rows()).map(({ closedAt }) => closedAt !== null)).toEqual([true, false])
  // It returns, which opens a new notice.
  world.pass(MINUTE)
  world.found.set('server_down', [down('1'), down('2')])
  expect(await tellAll()).toEqual(['notice.opened'])
})

test('it is told again when twice as many rows are behind it, or it has become more urgent', async () => {
  await world.channel()
  world.found.set('undelivered', [undelivered(10)])
  expect(await tellAll()).toEqual(['notice.opened'])
  world.found.set('undelivered', [undelivered(19)])
  expect(await tellAll()).toEqual([])
  world.found.set('undelivered', [undelivered(20)])
  expect(await tellAll()).toEqual(['notice.worse'])
  // Fewer rows send nothing; twice as many after that do.
  for (const count of [3, 5]) {
    world.found.set('undelivered', [undelivered(count)])
    expect(await tellAll()).toEqual([])
  }
  world.found.set('undelivered', [undelivered(6)])
  expect(await tellAll()).toEqual(['notice.worse'])
  const stock: Found = { subject: '1/2', words: 'stock', params: { group: 'g', rule: 'r', left: 5, below: 64 } }
  world.found.set('stock', [stock])
  expect(await tellAll()).toEqual(['notice.opened'])
  world.found.set('stock', [{ ...stock, severity: 'critical' }])
  expect(await tellAll()).toEqual(['notice.worse'])
})

test('in quiet hours only what is critical is told; the rest at their end, by the clock on the wall', async () => {
  await world.channel()
  await world.rules({ time_zone: 'Europe/Berlin', quiet_hours: true, quiet_from: '22:00', quiet_until: '07:00' })
  world.at('2026-06-15T21:30:00Z')
  world.found.set('server_down', [down('1')])
  world.found.set('mails', [{ subject: '', words: 'mails', params: { count: 1 } }])
  world.found.set('prices', [{ subject: '', words: 'prices', params: { count: 1 } }])
  expect(await tellAll()).toEqual(['notice.opened'])
  // A problem that has already ended is not sent.
  world.pass(HOUR)
  world.found.set('prices', [])
  expect(await tellAll()).toEqual([])
  world.at('2026-06-16T04:59:00Z')
  expect(await tellAll()).toEqual([])
  world.at('2026-06-16T05:00:00Z')
  await world.sendDue()
  expect(world.receiver.received.map(({ body }) => JSON.parse(body).data.notices[0].cause)).toEqual(['mails'])
})

test('an ignored notice is sent again after the configured hours, unless it was acknowledged or is muted', async () => {
  await world.channel()
  await world.rules({ repeat_hours: 4 })
  const boss = await world.shop.admin()
  world.found.set('server_down', [down('1'), down('2'), down('3')])
  expect(await tellAll()).toHaveLength(3)
  const [, two, three] = await world.rows()
  expect((await boss.post(`/api/settings/notices/${two?.id}/acknowledge/`, {})).code).toBe(2000)
  expect((await boss.post(`/api/settings/notices/${three?.id}/mute/`, { hours: 24 })).code).toBe(2000)
  world.pass(4 * HOUR)
  expect(await tellAll()).toEqual(['notice.lasts'])
  expect(await tellAll()).toEqual([])
  // A muted notice does not even send its end.
  world.found.set('server_down', [down('1'), down('2')])
  expect(await tellAll()).toEqual([])
  expect(await world.rows()).toMatchObject([{ closedAt: null }, { acknowledgedBy: boss.user.username }, {}])
})

test('a cause that is switched off is not told, and what was open of it ends; one that cannot be searched for stays', async () => {
  await world.channel()
  world.found.set('server_down', [down('1')])
  world.found.set('mails', [{ subject: '', words: 'mails', params: { count: 1 } }])
  expect(await tellAll()).toHaveLength(2)
  await world.rules({ causes: { mails: { enabled: false } } })
  world.fails.add('server_down')
  world.pass(MINUTE)
  await world.watch()
  expect((await world.rows()).map(({ cause, closedAt }) => [cause, closedAt !== null])).toEqual([
    ['server_down', false],
    ['mails', true]
  ])
})

test('a channel gets its severities; the digest has the rest once a day, with any number of workers', async () => {
  await world.channel({ tell_warning: false, tell_info: false, digest: true })
  await world.rules({ digest_hour: 8, time_zone: 'Asia/Shanghai' })
  world.pass(MINUTE)
  world.found.set('server_down', [down('1')])
  world.found.set('mails', [{ subject: '', words: 'mails', params: { count: 2 } }])
  world.found.set('prices', [{ subject: '', words: 'prices', params: { count: 1 } }])
  expect(await tellAll()).toEqual(['notice.opened'])
  // 07:59 in that time zone, then 08:00.
  world.at('2026-06-15T23:59:00Z')
  await sendDigests(world.ctx)
  await world.sendDue()
  world.said()
  world.at('2026-06-16T00:00:00Z')
  await Promise.all([sendDigests(world.ctx), sendDigests(world.ctx)])
  await world.sendDue()
  const sent = world.receiver.received.map(({ body }) => JSON.parse(body))
  expect(sent.at(-1)).toMatchObject({
    type: 'notice.digest',
    data: { notices: [{ cause: 'mails' }, { cause: 'prices' }], more: 0 }
  })
  const count = sent.length
  world.pass(20 * HOUR)
  await sendDigests(world.ctx)
  await world.sendDue()
  expect(world.receiver.received).toHaveLength(count)
})

test('the digest leaves out what is muted', async () => {
  await world.channel({ tell_warning: false, tell_info: false, digest: true })
  await world.rules({ digest_hour: 8, time_zone: 'UTC' })
  const boss = await world.shop.admin()
  world.pass(MINUTE)
  world.found.set('mails', [{ subject: '', words: 'mails', params: { count: 2 } }])
  world.found.set('prices', [{ subject: '', words: 'prices', params: { count: 1 } }])
  expect(await tellAll()).toEqual([])
  const muted = (await world.rows()).find(({ cause }) => cause === 'mails')
  expect((await boss.post(`/api/settings/notices/${muted?.id}/mute/`, { hours: 24 })).code).toBe(2000)
  world.at('2026-06-16T08:00:00Z')
  await sendDigests(world.ctx)
  await world.sendDue()
  const [digest] = world.receiver.received.splice(0).map(({ body }) => JSON.parse(body) as Digest)
  expect(digest?.data.notices).toMatchObject([{ cause: 'prices' }])
})

test('a search takes as many queries for forty subjects as for one', async () => {
  await world.channel({ tell_critical: false })
  let count = 0
  const logger = { logQuery: () => void (count += 1) }
  const { $client, lockSession, readLong } = world.ctx.db
  const db = Object.assign(drizzle($client, { casing: 'snake_case', logger }), { lockSession, readLong })
  // Each round has as many beginnings as ends.
  const queries = async (subjects: string[]) => {
    world.found.set('server_down', subjects.map(down))
    await world.watch()
    world.found.set(
      'server_down',
      subjects.map(subject => down(`${subject} again`))
    )
    count = 0
    await world.watch({ ...world.ctx, db })
    return count
  }
  expect(await queries(Array.from({ length: 40 }, (_, n) => `${n}`))).toBe(await queries(['one']))
})

test('a command tells once of an occurrence, and only if it commits', async () => {
  await world.channel()
  const params = { leased: 1, differences: 0 }
  const raised = { cause: 'inventory', subject: 'audit', key: 'audit:1', words: 'inventory', params } as const
  const raise = (fail: boolean) =>
    command(world.ctx, SYSTEM, async unit => {
      raiseNotice(unit, raised)
      if (fail) throw new Error('rolled back')
    })
  const jobs = async () =>
    (await world.ctx.db.execute(sql`select 1 from pgboss.job where name = 'raise-notice'`)).rows.length
  await expect(raise(true)).rejects.toThrow('rolled back')
  expect(await jobs()).toBe(0)
  await raise(false)
  await raise(false)
  expect(await jobs()).toBe(1)
  const at = world.ctx.now().toISOString()
  for (let n = 0; n < 3; n++) await openRaisedNotice(world.ctx, { ...raised, at })
  await world.sendDue()
  expect(world.said()).toEqual(['notice.opened'])
  // Another occurrence of the same subject is sent as worse. An acknowledgement ends it, because it has no finder.
  await openRaisedNotice(world.ctx, { ...raised, key: 'audit:2', params: { ...params, leased: 2 }, at })
  await world.sendDue()
  expect(world.said()).toEqual(['notice.worse'])
  const boss = await world.shop.admin()
  const [row] = await world.rows()
  expect((await boss.post(`/api/settings/notices/${row?.id}/acknowledge/`, {})).code).toBe(2000)
  expect(await world.rows()).toMatchObject([{ acknowledgedBy: boss.user.username }])
  expect((await world.rows())[0]?.closedAt).not.toBeNull()
})

test('a notice without a finder lasts until it is acknowledged; only the cause other is forgotten after a week', async () => {
  await world.channel()
  await world.rules({ repeat_hours: 24 })
  const at = world.ctx.now().toISOString()
  const says = { key: 'dispute:1', words: 'dispute', params: { payment: '#1', money: '1.00 USD', order: '–' } } as const
  await openRaisedNotice(world.ctx, { ...says, cause: 'dispute', subject: 'dispute:1', at })
  const lost = { key: 'down:1', words: 'orders_lost', params: { server: 'fr-1' } } as const
  await openRaisedNotice(world.ctx, { ...lost, cause: 'other', subject: 'down:1', at })
  await world.sendDue()
  expect(world.said()).toEqual(['notice.opened', 'notice.opened'])
  world.pass(8 * DAY)
  expect(await tellAll()).toEqual(['notice.lasts'])
  expect((await world.rows()).map(({ cause, closedAt }) => [cause, closedAt !== null])).toEqual([
    ['dispute', false],
    ['other', true]
  ])
  const boss = await world.shop.admin()
  const [dispute] = await world.rows()
  expect((await boss.post(`/api/settings/notices/${dispute?.id}/acknowledge/`, {})).code).toBe(2000)
  expect((await world.rows())[0]?.closedAt).not.toBeNull()
  world.pass(DAY)
  expect(await tellAll()).toEqual([])
})

test('a search that finds all that is open is complete, however much that is', async () => {
  await world.channel()
  const all = Array.from({ length: 60 }, (_, n) => ({ subject: String(n + 1) }))
  world.found.set('order_trouble', all)
  const at = world.ctx.now().toISOString()
  const words = { words: 'order_waits', params: { order: 'NL-1', server: 'fr-1', count: 1 } } as const
  for (const { subject } of all)
    await openRaisedNotice(world.ctx, { cause: 'order_trouble', subject, key: `order:${subject}`, ...words, at })
  world.pass(MINUTE)
  await tellAll()
  const seen = async () => (await world.rows()).filter(({ seenAt }) => seenAt.getTime() === world.ctx.now().getTime())
  expect(await seen()).toHaveLength(60)
  world.found.set('order_trouble', all.slice(0, -1))
  world.pass(MINUTE)
  expect(await tellAll()).toEqual(['notice.ended'])
  expect(await seen()).toHaveLength(59)
  expect((await world.rows()).filter(({ closedAt }) => closedAt !== null)).toMatchObject([{ subject: '60' }])
})

test('after a change of the time zone to the west, the next digest has what opened in between', async () => {
  await world.channel({ tell_critical: false, tell_warning: false, tell_info: false, digest: true })
  await world.rules({ digest_hour: 8, time_zone: 'Asia/Shanghai' })
  const opens = async (at: string, cause: 'mails' | 'stock' | 'undelivered') => {
    world.at(at)
    world.found.set(cause, [{ subject: '', words: cause, params: { count: 1 } }])
    await world.watch()
  }
  const digestAt = async (at: string) => {
    world.at(at)
    await sendDigests(world.ctx)
    await world.sendDue()
    const told = world.receiver.received.splice(0).map(({ body }) => JSON.parse(body) as Digest)
    return told.flatMap(({ data }) => data.notices.map(({ cause }) => cause))
  }
  await opens('2026-06-16T23:00:00Z', 'mails')
  expect(await digestAt('2026-06-17T00:00:00Z')).toEqual(['mails'])
  await opens('2026-06-17T00:30:00Z', 'stock')
  await world.rules({ digest_hour: 8, time_zone: 'America/New_York' })
  // The evening of the 16th in that time zone, then 08:00 of the 17th and of the 18th.
  expect(await digestAt('2026-06-17T01:00:00Z')).toEqual([])
  await opens('2026-06-17T05:00:00Z', 'undelivered')
  expect(await digestAt('2026-06-17T12:00:00Z')).toEqual([])
  expect((await digestAt('2026-06-18T12:00:00Z')).toSorted()).toEqual(['stock', 'undelivered'])
})
