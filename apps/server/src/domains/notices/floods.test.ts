import type { NoticeDetail } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { beforeEach, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { openRaisedNotice, sendDigests } from './jobs.ts'
import type { Found } from './found.ts'
import { openWorld } from './notices.fixture.ts'
import { notices, noticeSends } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(openWorld)
const boss = useStarted(() => world.shop.admin())
beforeEach(async () => {
  await world.clear()
  await world.rules({})
  world.at('2026-06-15T12:00:00Z')
})

const down = (subject: string, orders = 0): Found => ({
  subject,
  words: 'server_down',
  params: { server: `s${subject}`, ip: '192.0.2.1', since: '–', message: 'ECONNREFUSED', orders }
})
const low = (subject: string): Found => ({
  subject,
  words: 'stock',
  params: { group: subject, rule: 'r', left: 5, below: 64 }
})
type Body = {
  type: string
  data: { title: string; text: string; url: string; notices: { subject: string; count: number }[]; more: number }
}
const bodies = () => world.receiver.received.splice(0).map(({ body }) => JSON.parse(body) as Body)
const tellAll = async () => {
  await world.watch()
  await world.sendDue()
  return bodies()
}
/** Records that the last message was sent so many more times, a minute apart, the first one now. */
const repeat = async (times: number) => {
  const { id: _, ...sent } = (await world.sends()).at(-1) ?? { id: 0 }
  if (!('key' in sent)) throw new Error('nothing was sent')
  const rows = []
  for (let n = 0; n < times; n++) {
    rows.push({ ...sent, key: `${sent.key}:${n}`, createdAt: world.ctx.now() })
    world.pass(MINUTE)
  }
  await world.ctx.db.insert(noticeSends).values(rows)
}
/** Uses up a cause's messages of an hour. @returns the problems */
const spend = async (cause: 'server_down' | 'stock', found: Found) => {
  world.found.set(cause, [found])
  expect(await tellAll()).toHaveLength(1)
  world.pass(MINUTE)
  await repeat(19)
  return [found]
}
const shown = async (id: number | undefined) => (await boss.get<NoticeDetail>(`/api/settings/notices/${id}/`)).data

test('many of one cause at once are told in one message, those with most orders first, and each of them counts as told', async () => {
  await world.channel()
  const list = Array.from({ length: 45 }, (_, at) => down(String(at + 1), at === 35 ? 12 : 0))
  world.found.set('server_down', list)
  const [message, ...others] = await tellAll()
  expect(others).toEqual([])
  expect(message).toMatchObject({
    type: 'notice.opened',
    data: { title: 'Server s36 does not respond, and 44 more', more: 25 }
  })
  expect(message?.data.url).toMatch(/\/dashboard\/index\/notices$/)
  expect(message?.data.notices).toHaveLength(20)
  expect(message?.data.notices[0]).toMatchObject({ subject: '36' })
  expect(message?.data.text.split('\n')[0]).toBe('• [Critical, open] Server s36 does not respond (orders: 12)')
  expect(message?.data.text).toContain('and 25 more')
  // Those that the message leaves out also count as sent.
  const rows = await world.rows()
  expect(rows).toHaveLength(45)
  const last = await shown(rows.at(-1)?.id)
  expect(last).toMatchObject({ told_at: '2026-06-15T12:00:00.000Z', sends: { sent: 1 }, log: [{ state: 'sent' }] })
  // They end in one message, as they began.
  world.pass(MINUTE)
  world.found.set('server_down', [])
  expect(await tellAll()).toMatchObject([
    { type: 'notice.ended', data: { title: 'Ended: Server s36 does not respond, and 44 more' } }
  ])
})

test('what commands tell of one by one is gathered after five messages, and leaves a minute later', async () => {
  await world.channel()
  const at = world.ctx.now().toISOString()
  for (let n = 1; n <= 30; n++)
    await openRaisedNotice(world.ctx, {
      cause: 'server_down',
      subject: String(n),
      key: `silent:${n}`,
      words: 'server_down',
      params: down(String(n), n === 30 ? 3 : 0).params ?? {},
      at
    })
  await world.sendDue()
  expect(bodies()).toHaveLength(5)
  const rows = await world.rows()
  expect(await shown(rows.at(-1)?.id)).toMatchObject({ told_at: null, sends: { waiting: 1, sent: 0 } })
  world.pass(MINUTE)
  await world.sendDue()
  expect(bodies()).toMatchObject([
    { data: { title: 'Server s30 does not respond, and 24 more', notices: { length: 20 }, more: 5 } }
  ])
  expect(await shown(rows.at(-1)?.id)).toMatchObject({ told_at: expect.any(String) as string, sends: { sent: 1 } })
})

test('a critical notice waits five minutes at most if the hour’s messages are used up', async () => {
  await world.channel()
  const list = await spend('server_down', down('0'))
  world.found.set('server_down', [...list, down('a'), down('b', 2)])
  expect(await tellAll()).toEqual([])
  world.pass(2 * MINUTE)
  world.found.set('server_down', [...list, down('a'), down('b', 2), down('c')])
  expect(await tellAll()).toEqual([])
  world.pass(2 * MINUTE)
  // One that has ended in the meantime is in the message, as ended.
  world.found.set('server_down', [...list, down('b', 2), down('c')])
  expect(await tellAll()).toEqual([])
  world.pass(MINUTE)
  const [message, ...others] = await tellAll()
  expect(others).toEqual([])
  expect(message?.data.notices.map(({ subject }) => subject)).toEqual(['b', 'a', 'c'])
  expect(message?.data.text).toContain('[Critical, ended] Server sa does not respond')
  const rows = await world.rows()
  for (const { id } of rows.slice(-3)) expect((await shown(id)).sends).toMatchObject({ sent: 1, waiting: 0 })
})

test('a message for several notices that were all muted is not sent', async () => {
  await world.channel()
  const list = await spend('server_down', down('0'))
  world.found.set('server_down', [...list, down('a'), down('b')])
  await world.watch()
  await world.ctx.db.update(notices).set({ mutedUntil: new Date('2026-06-16T12:00:00Z') })
  world.pass(5 * MINUTE)
  await world.sendDue()
  expect(bodies()).toEqual([])
  expect((await world.sends()).filter(({ state }) => state === 'waiting')).toEqual([])
})

test('ends have messages of their own: those of a server that comes and goes take none of the beginnings', async () => {
  await world.channel()
  for (const found of [[down('1')], []]) {
    world.found.set('server_down', found)
    expect(await tellAll()).toHaveLength(1)
    world.pass(MINUTE)
  }
  await repeat(20)
  world.found.set('server_down', [down('2', 9)])
  expect(await tellAll()).toMatchObject([{ data: { notices: [{ subject: '2' }] } }])
})

test('warnings over the hour’s limit come in one message when there is room, and the digest has those that have ended', async () => {
  await world.channel({ digest: true })
  await world.rules({ digest_hour: 13 })
  const list = await spend('stock', low('0'))
  world.found.set('stock', [...list, low('a'), low('b')])
  expect(await tellAll()).toEqual([])
  world.at('2026-06-15T12:58:00Z')
  world.found.set('stock', [...list, low('b')])
  expect(await tellAll()).toEqual([])
  world.at('2026-06-15T13:00:00Z')
  expect(await tellAll()).toMatchObject([{ type: 'notice.opened', data: { notices: [{ subject: 'b' }], more: 0 } }])
  await sendDigests(world.ctx)
  await world.sendDue()
  expect(bodies()).toMatchObject([{ type: 'notice.digest', data: { notices: [{ subject: 'a' }] } }])
})

test('what waits for the end of the quiet hours is one message of each cause', async () => {
  await world.channel()
  await world.rules({ quiet_hours: true, quiet_from: '22:00', quiet_until: '07:00' })
  world.at('2026-06-15T23:00:00Z')
  world.found.set('stock', [low('a')])
  expect(await tellAll()).toEqual([])
  world.pass(HOUR)
  world.found.set('stock', [low('a'), low('b')])
  expect(await tellAll()).toEqual([])
  world.at('2026-06-16T07:00:00Z')
  await world.sendDue()
  expect(bodies()).toMatchObject([{ data: { title: 'Low stock: a, r, and 1 more', notices: { length: 2 } } }])
})

test('what could not be sent together stands in the console for each', async () => {
  await world.channel()
  world.receiver.state.answer = reply => void reply.writeHead(410).end('gone')
  world.found.set(
    'server_down',
    Array.from({ length: 7 }, (_, at) => down(String(at)))
  )
  expect(await tellAll()).toHaveLength(1)
  for (const { id } of await world.rows())
    expect(await shown(id)).toMatchObject({ told_at: null, sends: { failed: 1 }, log: [{ status: 410 }] })
})

test('what gets worse while it is muted is told when the mute is over, once', async () => {
  await world.channel()
  world.found.set('stock', [low('a')])
  expect(await tellAll()).toHaveLength(1)
  const [row] = await world.rows()
  const mute = () => boss.post(`/api/settings/notices/${row?.id}/mute/`, { hours: 1 })
  expect((await mute()).code).toBe(2000)
  world.found.set('stock', [{ ...low('a'), severity: 'critical' }])
  expect(await tellAll()).toEqual([])
  expect(await tellAll()).toEqual([])
  world.pass(HOUR)
  expect(await tellAll()).toMatchObject([{ type: 'notice.worse', data: { severity: 'critical' } }])
  expect(await tellAll()).toEqual([])
})

test('a notice that ended while no search ran sends no end', async () => {
  await world.channel()
  world.found.set('server_down', [down('1'), down('2')])
  expect(await tellAll()).toHaveLength(2)
  const [one] = await world.rows()
  const long = new Date(world.ctx.now().getTime() - 2 * DAY)
  await world.ctx.db
    .update(notices)
    .set({ seenAt: long })
    .where(eq(notices.id, one?.id ?? 0))
  world.pass(MINUTE)
  world.found.set('server_down', [])
  expect(await tellAll()).toMatchObject([{ type: 'notice.ended', data: { notices: [{ subject: '2' }] } }])
  expect((await shown(one?.id)).closed_at).toBe(long.toISOString())
})

test('times in what is said are of the rules’ time zone, and the same as beside it', async () => {
  await world.channel()
  await world.rules({ time_zone: 'Europe/Berlin' })
  const since = new Date('2026-06-15T11:55:00.000Z')
  world.found.set('server_down', [{ ...down('1'), params: { ...down('1').params, since: since.toISOString() }, since }])
  const [message] = await tellAll()
  expect(message?.data.text).toContain('has not responded since Jun 15, 2026, 13:55 GMT+2.')
  const [row] = await world.rows()
  const { text, since: beside } = await shown(row?.id)
  expect(text.en).toContain('Jun 15, 2026, 13:55 GMT+2')
  expect(text['zh-CN']).toMatch(/2026年6月15日.*13:55/)
  expect(beside).toBe(since.toISOString())
})

test('another occurrence of what is muted is told when the mute is over', async () => {
  await world.channel()
  const raised = {
    cause: 'inventory',
    subject: 'audit',
    words: 'inventory',
    params: { leased: 1, differences: 0 }
  } as const
  const raise = (key: string) => openRaisedNotice(world.ctx, { ...raised, key, at: world.ctx.now().toISOString() })
  await raise('audit:1')
  await world.sendDue()
  const [row] = await world.rows()
  await boss.post(`/api/settings/notices/${row?.id}/mute/`, { hours: 1 })
  await raise('audit:2')
  expect((await tellAll()).map(({ type }) => type)).toEqual(['notice.opened'])
  world.pass(HOUR)
  expect((await tellAll()).map(({ type }) => type)).toEqual(['notice.worse'])
  expect(await tellAll()).toEqual([])
})
