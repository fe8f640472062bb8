import type { Incident, Page, PublicIncident, StatusPage } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { mails } from '../mail/tables.ts'
import { products } from '../catalog/tables.ts'
import { mailJobs } from '../mail/index.ts'
import { serverOutages, servers } from '../servers/tables.ts'
import { auditLog } from '../../infra/tables.ts'
import { endMaintenance } from './incidents.ts'
import { statusJobs, statusRoutes, statusUnsubscribeRoutes } from './index.ts'
import { ASKS_AN_HOUR, forgetSubscriber, mailUpdate } from './subscribers.ts'
import { readStatusPage } from './page.ts'
import { addLocation, addServers, readPage } from './status.fixture.ts'
import { incidentOutages, incidents, incidentUpdates, statusSubscribers } from './tables.ts'
import { command } from '../../infra/command.ts'
import { addRow } from '../../testing/rows.ts'

const NO_CHECKS = async () => new Map()
let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
let london: number
let server: number

beforeAll(async () => {
  shop = await startTestShop({
    routes(mount, ctx, app) {
      statusRoutes(mount, ctx, { app, proxyChecks: NO_CHECKS })
      statusUnsubscribeRoutes(mount, ctx)
    },
    jobs: [...mailJobs, ...statusJobs({ proxyChecks: () => NO_CHECKS })]
  })
  admin = await shop.admin()
  ;[server = 0] = await addServers(shop, ['secret-host'])
  london = await addLocation(shop, { group: 'rack-7', sells: ['London'], on: [server] })
  await addLocation(shop, { group: 'Tokyo', sells: [''], on: [server] })
})
afterAll(() => shop?.close())

const INCIDENTS = '/api/status/incidents/'
const ago = (ms: number) => new Date(shop.ctx.now().getTime() - ms).toISOString()
const open = (title: string, more: object = {}) =>
  admin.post<Incident>(INCIDENTS, { title, severity: 'major', locations: [london], text: 'We look into it.', ...more })
const say = (id: number, state: string, text: string) =>
  admin.post<Incident>(`${INCIDENTS}${id}/updates/`, { state, text })
const subjects = async (to: string, count: number) => {
  await shop.drain()
  const mails = shop.outbox.mails.filter(mail => mail.to === to)
  expect(mails).toHaveLength(count)
  return mails.map(mail => mail.subject)
}
const linkOf = (text: string | undefined, name: string) =>
  new RegExp(`/status\\?${name}=([\\w-]+)`).exec(text ?? '')?.[1] ?? ''

async function subscribed(email: string, language: 'en' | 'zh-CN' = 'en'): Promise<void> {
  const visitor = shop.visitor({ ip: `198.51.100.${Math.floor(Math.random() * 250)}` })
  expect((await visitor.post('/api/status/subscribe/', { email, language })).code).toBe(2000)
  const [mail] = await shop.outbox.waitFor(email)
  expect((await visitor.post('/api/status/confirm/', { token: linkOf(mail?.text, 'confirm') })).code).toBe(2000)
}

test('an incident is told from its opening to its end: on the page, by mail, once each, and in the audit log', async () => {
  await subscribed('anna@example.com')
  await subscribed('li@example.com', 'zh-CN')
  const opened = await open('London does not answer', { started_at: ago(HOUR) })
  expect(opened.data).toMatchObject({ state: 'investigating', created_by: admin.user.username, ends_at: null })
  const { id } = opened.data
  expect((await readPage(shop)).current).toMatchObject([
    { id, title: 'London does not answer', locations: ['London'], updates: [{ text: 'We look into it.' }] }
  ])
  // The same form several times, at once and again.
  const replies = await Promise.all([1, 2, 3].map(() => say(id, 'identified', 'A router is broken.')))
  expect(replies.map(({ code }) => code)).toEqual([2000, 2000, 2000])
  expect((await open('london DOES not answer')).data).toMatchObject({ reason: 'incident_exists' })
  await say(id, 'resolved', 'It was replaced.\nAll is well.')
  const page = await readPage(shop)
  expect(page.current).toEqual([])
  expect(page.past).toMatchObject([{ id, state: 'resolved', resolved_at: expect.any(String) as string }])
  expect(page.past[0]?.updates.map(({ state }) => state)).toEqual(['resolved', 'identified', 'investigating'])

  expect((await subjects('anna@example.com', 4)).slice(1).toSorted()).toEqual([
    'Identified: London does not answer',
    'Investigating: London does not answer',
    'Resolved: London does not answer'
  ])
  expect((await subjects('li@example.com', 4)).slice(1)).toContain('已解决：London does not answer')
  const told = shop.outbox.mails.find(mail => mail.subject.startsWith('Resolved'))
  expect(told?.text).toContain('It was replaced.\nAll is well.')
  expect(told?.text).toContain(`/status?incident=${id}`)
  expect(told?.headers['List-Unsubscribe']).toContain('/api/status/unsubscribe/?token=')
  // A repeated job sends no mail.
  const updates = await shop.ctx.db.select().from(incidentUpdates).where(eq(incidentUpdates.incidentId, id))
  for (const { id: updateId } of updates) await mailUpdate(shop.ctx, { updateId, after: 0 })
  await subjects('anna@example.com', 4)

  const log = await shop.ctx.db.select().from(auditLog).where(eq(auditLog.targetType, 'incident'))
  expect(log.map(({ action }) => action)).toEqual(['incident.create', 'incident.update', 'incident.update'])
  expect((await shop.ctx.db.select().from(mails)).filter(mail => mail.template.startsWith('status'))).toSatisfy(
    (rows: (typeof mails.$inferSelect)[]) => rows.length > 0 && rows.every(mail => mail.to === 'deleted')
  )
})

test('its locations are called in each language as plans call them there: on the page, and in mails', async () => {
  const { db } = shop.ctx
  await db.update(products).set({ translations: { 'zh-CN': { words: { London: '伦敦' } } } })
  await subscribed('wu@example.com', 'zh-CN')
  await subscribed('ruth@example.com')
  const { id } = (await open('Slow lines')).data
  const translations = { 'zh-CN': { words: { London: '伦敦' } } }
  const page = await readPage(shop)
  expect(page.current).toMatchObject([{ id, locations: ['London'], translations }])
  expect(page.locations).toMatchObject([
    { name: 'London', translations: { 'zh-CN': { name: '伦敦' } } },
    { name: 'Tokyo' }
  ])
  await subjects('wu@example.com', 2)
  await subjects('ruth@example.com', 2)
  const textTo = (to: string) => shop.outbox.mails.findLast(mail => mail.to === to)?.text
  expect(textTo('wu@example.com')).toContain('伦敦')
  expect(textTo('wu@example.com')).not.toContain('London')
  expect(textTo('ruth@example.com')).toContain('London')
  await say(id, 'resolved', 'Mended.')
  await db.update(products).set({ translations: {} })
  expect(JSON.stringify(await readPage(shop))).not.toContain('伦敦')
  for (const address of ['wu@example.com', 'ruth@example.com'])
    await db.delete(statusSubscribers).where(eq(statusSubscribers.address, address))
})

test('an incident is edited and corrected on the version that was read; a resolved one can go on', async () => {
  const { data } = await open('A mistake in the title', { severity: 'minor' })
  const one = `${INCIDENTS}${data.id}/`
  const form = { title: 'Slow answers', severity: 'critical', locations: [london], version: data.version }
  const edited = await admin.put<Incident>(one, form)
  expect(edited.data).toMatchObject({ title: 'Slow answers', severity: 'critical', started_at: data.started_at })
  expect(await admin.put(one, { ...form, title: 'Late' })).toMatchObject({ status: 409, data: { reason: 'stale' } })
  const [first] = edited.data.updates
  const correct = (text: string, was: string) => admin.put<Incident>(`/api/status/updates/${first?.id}/`, { text, was })
  expect((await correct('We look into that.', 'We look into it.')).data.updates[0]?.text).toBe('We look into that.')
  expect(await correct('Other', 'We look into it.')).toMatchObject({ status: 409 })

  await say(data.id, 'resolved', 'Done')
  expect((await say(data.id, 'investigating', 'Not done')).data).toMatchObject({
    state: 'investigating',
    resolved_at: null
  })
  for (const [body, reason] of [
    [{ severity: 'maintenance', ends_at: ago(-HOUR) }, 'is_fixed'],
    [{ started_at: ago(-HOUR) }, 'incident_in_future'],
    [{ locations: [999_999] }, 'choice_gone']
  ] as const)
    expect((await admin.put(one, { ...form, version: undefined, ...body })).data).toMatchObject({ reason })
  expect((await say(data.id, 'scheduled', 'No')).data).toMatchObject({ reason: 'incident_state' })
  expect((await admin.delete(one)).code).toBe(2000)
  expect((await admin.get(one)).status).toBe(404)
  const entries = await shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.targetId, String(data.id)))
  expect(entries.map(({ action }) => action)).toEqual([
    'incident.create',
    'incident.edit',
    'incident.correct',
    'incident.update',
    'incident.update',
    'incident.delete'
  ])
})

test('work that is over is not announced as planned, and can be written down as completed', async () => {
  const past = { severity: 'maintenance', started_at: ago(HOUR), ends_at: ago(MINUTE) }
  expect((await open('Old switches', past)).data).toMatchObject({ reason: 'maintenance_times' })
  const { data } = await open('Old switches', { ...past, state: 'completed' })
  const edited = { ...past, title: 'Older switches', locations: [london], ends_at: ago(2) }
  expect((await admin.put(`${INCIDENTS}${data.id}/`, edited)).code).toBe(2000)
  expect((await admin.delete(`${INCIDENTS}${data.id}/`)).code).toBe(2000)
})

test('planned work begins and ends by the clock, is no outage in between, and its end is mailed once', async () => {
  await subscribed('plan@example.com')
  const wrong = await open('New switches', { severity: 'maintenance', started_at: ago(-HOUR), ends_at: ago(0) })
  expect(wrong.data).toMatchObject({ reason: 'maintenance_times' })
  const times = { started_at: ago(-HOUR), ends_at: ago(-2 * HOUR) }
  const { data } = await open('New switches', { severity: 'maintenance', ...times })
  expect(data.state).toBe('scheduled')
  const body = { title: 'New switches', severity: 'maintenance', locations: [london] }
  const moved = await admin.put(`${INCIDENTS}${data.id}/`, { ...body, started_at: ago(HOUR), ends_at: ago(MINUTE) })
  expect(moved.data).toMatchObject({ reason: 'maintenance_times' })
  const at = (ms: number) => readStatusPage(shop.ctx.db, NO_CHECKS, new Date(shop.ctx.now().getTime() + ms))
  const { db } = shop.ctx
  await db.update(servers).set({ connected: false, unreachableSince: shop.ctx.now() })
  const state = ({ locations, current }: StatusPage) => [
    locations.find(({ name }) => name === 'London')?.state,
    locations.find(({ name }) => name === 'Tokyo')?.state,
    current.find(({ id }) => id === data.id)?.state
  ]
  expect(state(await at(0))).toEqual(['down', 'down', 'scheduled'])
  expect(state(await at(1.5 * HOUR))).toEqual(['maintenance', 'down', 'in_progress'])
  shop.advance(2 * HOUR + 1000)
  await Promise.all([endMaintenance(shop.ctx, SYSTEM), endMaintenance(shop.ctx, SYSTEM)])
  await endMaintenance(shop.ctx, SYSTEM)
  const ended = await admin.get<Incident>(`${INCIDENTS}${data.id}/`)
  expect(ended.data).toMatchObject({ state: 'completed', resolved_at: times.ends_at })
  expect(ended.data.updates.map(update => update.state)).toEqual(['completed', 'scheduled'])
  expect((await say(data.id, 'in_progress', 'Again')).data).toMatchObject({ reason: 'incident_ended' })
  expect((await subjects('plan@example.com', 3)).slice(1).toSorted()).toEqual([
    'Maintenance completed: New switches',
    'Planned maintenance: New switches'
  ])
  await db.update(servers).set({ connected: true, unreachableSince: null, lastSeenAt: shop.ctx.now() })
})

test('an incident of an outage is written once, and an old one is found by its link alone', async () => {
  const outage = await addRow(shop.ctx, serverOutages, {
    serverId: server,
    startedAt: new Date(ago(3 * HOUR)),
    endedAt: new Date(ago(2 * HOUR))
  })
  const path = `/api/servers/outages/${outage.id}/incident/`
  const form = { severity: 'major', locations: [london], state: 'resolved', text: 'It is over.' }
  const [first, second] = await Promise.all(['One', 'Two'].map(title => admin.post<Incident>(path, { ...form, title })))
  expect([first?.status, second?.status].toSorted((a = 0, b = 0) => a - b)).toEqual([200, 409])
  const made = first?.status === 200 ? first.data : second?.data
  expect(made).toMatchObject({ state: 'resolved', outages: [{ id: outage.id, server: 'secret-host' }] })
  const other = await open('Another one')
  const name = (incident_id: number | null | string) =>
    admin.post(`/api/servers/outages/${outage.id}/name_incident/`, { incident_id })
  expect((await name(other.data.id)).code).toBe(2000)
  expect(await shop.ctx.db.select().from(incidentOutages)).toEqual([{ outageId: outage.id, incidentId: other.data.id }])
  expect((await name(999_999)).data).toMatchObject({ reason: 'choice_gone' })
  expect((await name('')).code).toBe(2000)
  expect(await shop.ctx.db.$count(incidentOutages)).toBe(0)

  const long = new Date(ago(120 * DAY))
  await shop.ctx.db
    .update(incidents)
    .set({ startedAt: long, resolvedAt: new Date(long.getTime() + HOUR) })
    .where(eq(incidents.id, made?.id ?? 0))
  const page = await readStatusPage(shop.ctx.db, NO_CHECKS, shop.ctx.now())
  expect([...page.past, ...page.current].some(({ id }) => id === made?.id)).toBe(false)
  const found = await shop.visitor().get<PublicIncident>(`/api/status/incident/${made?.id}/`)
  expect(found.data).toMatchObject({ title: made?.title, locations: ['London'] })
  expect(JSON.stringify(found.data)).not.toContain('secret')
})

test('an address is mailed after its confirmation only, and forgotten with all that waits for it', async () => {
  const visitor = shop.visitor({ ip: '192.0.2.77' })
  const ask = (email: string) => visitor.post('/api/status/subscribe/', { email })
  const first = await ask('Bob@Example.com')
  const [mail] = await shop.outbox.waitFor('bob@example.com')
  expect(first.data).toBeNull()
  // A repeat within minutes sends no mail. The reply is the same, even after the confirmation.
  expect(await ask('bob@example.com')).toMatchObject({ code: 2000, data: null })
  const token = linkOf(mail?.text, 'confirm')
  expect((await visitor.post(`/api/status/unsubscribe/?token=${token}`)).status).toBe(400)
  for (const wrong of [
    '',
    'x',
    token.slice(0, -2),
    shop.ctx.secrets.seal('["status-confirm","1"]').toString('base64url')
  ])
    expect([wrong, (await visitor.post('/api/status/confirm/', { token: wrong })).status]).toEqual([wrong, 400])
  const follow = () => visitor.post('/api/status/confirm/', { token })
  expect([(await follow()).code, (await follow()).code]).toEqual([2000, 2000])
  const [row] = await shop.ctx.db
    .select()
    .from(statusSubscribers)
    .where(eq(statusSubscribers.address, 'bob@example.com'))
  expect(row).toMatchObject({ confirmedAt: expect.any(Date) as Date })
  expect(await ask('bob@example.com')).toMatchObject({ code: 2000, data: null })

  const told = await open('Something to tell')
  await shop.drain()
  const sent = shop.outbox.mails.find(one => one.to === 'bob@example.com' && /to tell/.test(one.subject))
  const end = linkOf(sent?.text, 'unsubscribe')
  expect(sent?.headers['List-Unsubscribe']).toContain(`/api/status/unsubscribe/?token=${end}`)
  // A mail program opens the link, or posts a form to it, without a login.
  const opened = await visitor.fetch(`/api/status/unsubscribe/?token=${end}`, { redirect: 'manual' })
  expect([opened.status, opened.headers.get('location')]).toEqual([302, `/status?unsubscribe=${end}`])
  const post = () => visitor.post(`/api/status/unsubscribe/?token=${end}`)
  expect([(await post()).code, (await post()).code]).toEqual([2000, 2000])
  await say(told.data.id, 'resolved', 'Told')
  const { rows } = await shop.ctx.db.execute<{ found: boolean }>(sql`
    select exists (select from status_subscribers where address like 'bob@%')
      or exists (select from mails where "to" ilike 'bob@%' or unsent::text ilike '%bob@%') as found`)
  expect(rows).toEqual([{ found: false }])
  expect((await follow()).status).toBe(400)
})

test('floods are limited: a client asks a few times an hour, an address gets a few links, and those end', async () => {
  const from = (ip: string, email: string) => shop.visitor({ ip }).post('/api/status/subscribe/', { email })
  const mailed = () => shop.outbox.mails.filter(mail => mail.to === 'victim@example.com').length
  for (let nth = 0; nth < ASKS_AN_HOUR; nth++)
    expect((await from('192.0.2.1', `many${nth}@example.com`)).code).toBe(2000)
  expect(await from('192.0.2.1', 'more@example.com')).toMatchObject({
    status: 429,
    data: { reason: 'too_many' }
  })
  for (let nth = 1; nth <= 5; nth++) {
    shop.advance(11 * 60_000)
    expect((await from(`192.0.2.${nth + 10}`, 'victim@example.com')).code).toBe(2000)
    await shop.drain()
    expect(mailed()).toBe(Math.min(nth, 3))
  }
  const last = shop.outbox.mails.findLast(mail => mail.to === 'victim@example.com')
  shop.advance(2 * DAY + HOUR)
  const late = await shop.visitor().post('/api/status/confirm/', { token: linkOf(last?.text, 'confirm') })
  expect(late).toMatchObject({ status: 400, data: { reason: 'wrong_status_token' } })
  await command(shop.ctx, SYSTEM, unit => forgetSubscriber(unit, 'Victim@example.com'))
  expect(await shop.ctx.db.$count(statusSubscribers, eq(statusSubscribers.address, 'victim@example.com'))).toBe(0)
})

test('many subscribers are mailed by slices, each once', async () => {
  const { db } = shop.ctx
  await db.delete(statusSubscribers)
  await db.execute(sql`insert into status_subscribers (address, confirmed_at, asked_at)
    select n || '@many.invalid', now(), now() from generate_series(1, 101) n`)
  const { data } = await open('For many')
  const updateId = data.updates[0]?.id
  const orders = async () => {
    const { rows } = await db.execute<{ count: number; keys: number }>(sql`
      select count(*)::int as count, count(distinct data ->> 'key')::int as keys from pgboss.job
      where name = 'send-mail' and data ->> 'key' like ${`status:${updateId}:%`}`)
    return rows[0]
  }
  await shop.drain()
  expect(await orders()).toEqual({ count: 101, keys: 101 })
})

test('the list of incidents shows those of a state, found by title', async () => {
  const list = async (query: string) => (await admin.get<Page<Incident>>(`${INCIDENTS}?${query}`)).data.data
  expect((await list('view=open')).every(one => one.resolved_at === null)).toBe(true)
  expect((await list('view=ended&search=switch')).map(({ title }) => title)).toEqual(['New switches'])
})
