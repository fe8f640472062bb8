import { execFileSync } from 'node:child_process'
import { randomUUID, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type AgentReport, type NoticeCause, NoticeRules } from '@netlet/contract'
import { eq, like, sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatBot } from './domains/chat/tables.ts'
import { accessProofs } from './domains/proofs/tables.ts'
import { agentUsers, serverReports, servers } from './domains/servers/tables.ts'
import { upgrades } from './domains/provisioning/tables.ts'
import { START, startHome, type Home } from './domains/home/home.fixture.ts'
import { mails } from './domains/mail/tables.ts'
import { writeSettings } from './domains/settings/index.ts'
import { DAY, HOUR, iso, MINUTE } from './infra/clock.ts'
import { DEAD_LETTER } from './infra/jobs.ts'
import { noticePorts } from './notice-ports.ts'
import { addRow, addRows } from './testing/rows.ts'

let home: Home
beforeAll(async () => {
  home = await startHome()
})
afterAll(() => home?.close())

const REPORT: AgentReport = {
  at: iso(START),
  version: '1',
  status: 'ok',
  workers: 1,
  uptime_seconds: 1,
  users: 0,
  connections: null,
  rate: null,
  hours: []
}

/** The current results of a cause's finder. */
async function found(cause: NoticeCause, { rules = {}, open = [] }: { rules?: object; open?: string[] } = {}) {
  const finder = noticePorts.finders.find(one => one.cause === cause)
  if (!finder) throw new Error(`nobody searches for ${cause}`)
  const all = NoticeRules.parse(rules)
  const threshold = all.causes[cause].threshold ?? 0
  return finder.find(home.shop.ctx, { now: home.now(), threshold, rules: all, open })
}

test('each cause is found once, in one place', () => {
  const causes = noticePorts.finders.map(({ cause }) => cause)
  expect(new Set(causes).size).toBe(causes.length)
})

test('a server that is down, in trouble, whose certificate ends, or that lets old credentials in', async () => {
  const { db } = home.shop.ctx
  const set = (row: Partial<typeof servers.$inferInsert>) =>
    db.update(servers).set(row).where(eq(servers.id, home.serverId))
  const id = String(home.serverId)
  expect(await found('server_down')).toEqual([])
  await set({ connected: false, failures: 4, unreachableSince: START })
  expect(await found('server_down')).toEqual([])
  await set({ failures: 5 })
  expect(await found('server_down')).toMatchObject([{ subject: id, params: { server: 'here' }, since: START }])
  expect(await found('server_trouble')).toEqual([])
  // Servers with orders come first, even if there are more than are returned.
  const since = new Date(START.getTime() - HOUR)
  const silent = { name: 'idle', ip: '192.0.2.99', connected: false, failures: 9, unreachableSince: since }
  const idle = await addRow(home.shop.ctx, servers, silent)
  const before = (await found('server_down')).map(({ subject, params }) => [subject, params?.['orders']])
  const user = { serverId: home.serverId, username: 'of-order', orderId: 7, password: 'x', prefixes: [], rules: [] }
  await db.insert(agentUsers).values(user)
  expect(before).toEqual([
    [String(idle.id), 0],
    [id, 0]
  ])
  expect((await found('server_down')).map(({ subject, params }) => [subject, params?.['orders']])).toEqual([
    [id, 1],
    [String(idle.id), 0]
  ])
  await db.delete(agentUsers).where(eq(agentUsers.username, 'of-order'))
  await db.delete(servers).where(eq(servers.name, 'idle'))
  await set({ status: 'given_up' })
  expect(await found('server_down')).toEqual([])
  await set({ connected: true, failures: 0, unreachableSince: null, status: 'active' })

  await set({ trouble: 'token_unreadable', troubleParams: {} })
  expect(await found('server_trouble')).toMatchObject([{ subject: `${id}:token_unreadable` }])
  // A failure is reported once it lasts.
  const failing = { trouble: 'changes_failing', troubleParams: { message: 'disk full' } } as const
  await set({ ...failing, failingSince: new Date(home.now().getTime() - 9 * MINUTE) })
  expect(await found('server_trouble')).toEqual([])
  await set({ failingSince: new Date(home.now().getTime() - 11 * MINUTE) })
  expect(await found('server_trouble')).toMatchObject([{ subject: `${id}:changes_failing` }])
  await set({ trouble: null, troubleParams: null, failingSince: null })
  expect(await found('server_trouble')).toEqual([])

  const folder = mkdtempSync(`${tmpdir()}/certificate-`)
  const how = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 10 -subj /CN=agent -keyout'
  const make = (days: number) => {
    const options = how.replace('-days 10', `-days ${days}`).split(' ')
    execFileSync('openssl', [...options, `${folder}/key.pem`, '-out', `${folder}/cert.pem`], { stdio: 'ignore' })
    return readFileSync(`${folder}/cert.pem`, 'utf8')
  }
  const [first, later] = [make(10), make(100)]
  await set({ agentCertificate: first })
  rmSync(folder, { recursive: true })
  const ends = Date.now() + 10 * DAY
  home.wait(ends - 15 * DAY - home.now().getTime())
  expect(await found('certificate')).toEqual([])
  expect(await found('certificate', { rules: { causes: { certificate: { threshold: 30 } } } })).toHaveLength(1)
  home.wait(2 * DAY)
  const [soon] = await found('certificate')
  expect(soon).toMatchObject({ subject: id })
  expect(soon?.severity).toBeUndefined()
  home.wait(14 * DAY)
  expect(await found('certificate')).toMatchObject([{ severity: 'critical' }])
  // The agent's report: the same certificate counts once, another one and that of the proxy port count too.
  const shown = (api: string | null, proxy: string | null = null) =>
    db
      .insert(serverReports)
      .values({ serverId: home.serverId, report: { ...REPORT, certificates: { api, proxy } }, counters: null })
      .onConflictDoUpdate({
        target: serverReports.serverId,
        set: { report: { ...REPORT, certificates: { api, proxy } } }
      })
  const subjects = async () => (await found('certificate')).map(({ subject, words }) => `${subject} ${words}`)
  await shown(new X509Certificate(first).validToDate.toISOString())
  expect(await subjects()).toEqual([`${id} certificate`])
  await shown(iso(new Date(ends - DAY)), iso(new Date(ends - 2 * DAY)))
  expect(await subjects()).toEqual([`${id}:proxy certificate_proxy`, `${id}:api certificate_api`, `${id} certificate`])
  await shown(null)
  // A chain is valid until its first certificate ends.
  await set({ agentCertificate: `${later}${first}` })
  expect(await subjects()).toEqual([`${id} certificate`])
  await set({ agentCertificate: later })
  expect(await subjects()).toEqual([])
  await set({ agentCertificate: null })
  await db.delete(serverReports)
  home.wait(START.getTime() - home.now().getTime())
})

test('a server in trouble is found behind any number of those without a notice', async () => {
  const { db } = home.shop.ctx
  const row = (n: number) => ({ name: `of many ${n}`, ip: `192.0.2.${n}`, connected: true, troubleParams: {} })
  const quiet = Array.from({ length: 60 }, (_, n) => ({ ...row(n), trouble: 'prefixes_waiting' as const }))
  await addRows(home.shop.ctx, servers, quiet)
  const last = await addRow(home.shop.ctx, servers, { ...row(99), trouble: 'token_unreadable' })
  expect((await found('server_trouble')).map(({ subject }) => subject)).toEqual([`${last.id}:token_unreadable`])
  await db.delete(servers).where(like(servers.name, 'of many %'))
})

test('orders that are paid and late, and those whose trouble lasts', async () => {
  await home.place({ state: 'paid', paidAt: new Date(START.getTime() - 20 * MINUTE), payAmount: '20.00' })
  await home.place({ state: 'paid', paidAt: START, payAmount: '20.00' })
  await home.place({ state: 'refunded', paidAt: new Date(START.getTime() - HOUR), payAmount: '20.00' })
  expect(await found('undelivered')).toMatchObject([{ subject: '', count: 1, params: { minutes: 15 } }])
  expect(await found('undelivered', { rules: { causes: { undelivered: { threshold: 30 } } } })).toEqual([])
  const failed = await home.place({ state: 'paid', failCode: 'agent_refused', failParams: { message: 'no' } })
  const fine = await home.place()
  expect(await found('order_trouble', { open: [String(failed), String(fine)] })).toEqual([{ subject: String(failed) }])
})

test('stock of a group that sells, below the figure of the rules', async () => {
  // Sixteen addresses under each of two rules. A group without plans does not matter.
  expect((await found('stock')).map(({ subject, params }) => [subject, params?.['left']])).toEqual([
    ['1/1', 16],
    ['1/2', 16]
  ])
  expect(await found('stock', { rules: { causes: { stock: { threshold: 16 } } } })).toEqual([])
  const rules = { causes: { stock: { threshold: 0 } }, stock: [{ group_id: 1, rule_id: 2, below: 17 }] }
  expect(await found('stock', { rules })).toMatchObject([{ subject: '1/2', params: { below: 17 } }])
  await home.shop.ctx.db.execute(sql`update variants set is_active = false`)
  expect(await found('stock')).toEqual([])
  await home.shop.ctx.db.execute(sql`update variants set is_active = true`)
})

test('payments that still wait, late events, dead letters by queue, mails and tokens', async () => {
  const { db } = home.shop.ctx
  await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at, processed_at, needs_hand, outcome)
    values ('a', 'orders/paid', '{}', now(), now(), true, 'unknown_order'), ('b', 'orders/paid', '{}', now(), now(), false, 'settled')`)
  expect(await found('payment', { open: ['a', 'b', 'gone'] })).toEqual([{ subject: 'a' }])
  await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at, waits_for)
    values ('late', 'orders/paid', '{}', ${iso(new Date(home.now().getTime() - 61 * MINUTE))}, 'process 12 is away')`)
  expect(await found('late_events')).toMatchObject([{ subject: 'process # is away', count: 1 }])
  await db.execute(sql`insert into pgboss.job (name, data, source_name)
    values (${DEAD_LETTER}, '{}', 'send-mail'), (${DEAD_LETTER}, '{}', 'send-mail'), (${DEAD_LETTER}, '{}', 'repair-server')`)
  expect(await found('dead_letter')).toMatchObject([
    { subject: 'send-mail', count: 2 },
    { subject: 'repair-server', count: 1 }
  ])
  const mail = { to: 'a@example.com', template: 't', kind: 'security', language: 'en' } as const
  const claim = { claimedAt: START, jobId: randomUUID() }
  await addRows(home.shop.ctx, mails, [
    { ...mail, ...claim, state: 'failed', key: 'm1' },
    { ...mail, ...claim, state: 'waiting', key: 'm2', errorCode: 'unauthorized', error: 'bad key' }
  ])
  expect(await found('mails')).toMatchObject([{ count: 1 }])
  expect(await found('token')).toMatchObject([{ subject: 'mail', params: { message: 'bad key' } }])
  await writeSettings(home.shop.ctx, { discord_bot_token: 'old token' })
  await addRow(home.shop.ctx, chatBot, { state: 'waiting', problem: 'token_refused', detail: 'wrong token' })
  expect(await found('token')).toMatchObject([
    { subject: 'mail' },
    { subject: 'chat', params: { message: 'wrong token' } }
  ])
})

test('waiting mails cause a notice once the mail service has taken none for a quarter of an hour', async () => {
  const { db } = home.shop.ctx
  await db.delete(mails)
  const at = (minutes: number) => new Date(home.now().getTime() + minutes * MINUTE)
  const claim = {
    to: 'a@example.com',
    template: 't',
    kind: 'security',
    language: 'en',
    claimedAt: START,
    jobId: ''
  } as const
  const write = (key: string, some: Partial<typeof mails.$inferInsert>) =>
    addRow(home.shop.ctx, mails, { ...claim, key, ...some })
  await write('first', { state: 'waiting', errorCode: 'network', error: 'no answer', createdAt: at(-14) })
  expect(await found('mails')).toEqual([])
  await write('older', { state: 'waiting', errorCode: 'rejected', error: 'not this one', createdAt: at(-60) })
  await write('sent', { state: 'sent', createdAt: at(-300), sentAt: at(-16) })
  expect(await found('mails')).toEqual([])
  await write('oldest', { state: 'waiting', errorCode: 'timeout', error: 'too slow', createdAt: at(-16) })
  expect(await found('mails')).toMatchObject([
    { subject: 'service', words: 'mails_wait', params: { count: 2, since: iso(at(-16)), reason: 'too slow' }, count: 2 }
  ])
  await db
    .update(mails)
    .set({ sentAt: at(-14) })
    .where(eq(mails.key, 'sent'))
  expect(await found('mails')).toEqual([])
})

test('an upgrade that stopped, and servers whose proofs fail, together', async () => {
  await addRow(home.shop.ctx, upgrades, {
    state: 'stopped',
    version: '2.0.0',
    actorId: 1,
    actorName: 'owner',
    actorIp: '127.0.0.1',
    reason: 'not_found',
    params: {}
  })
  expect(await found('upgrade')).toMatchObject([{ subject: '1', params: { version: '2.0.0' } }])
  expect(await found('proofs')).toEqual([])
  const proof = {
    kind: 'revocation',
    cause: 'removed',
    orderId: 1,
    serverId: home.serverId,
    username: 'u',
    prefixes: [] as string[]
  } as const
  await addRows(home.shop.ctx, accessProofs, [
    { ...proof, state: 'failed' },
    { ...proof, state: 'failed' },
    { ...proof, state: 'failed', acknowledgedAt: START }
  ])
  expect(await found('proofs')).toMatchObject([
    { subject: '', count: 1, params: { count: 1, servers: expect.stringMatching(/^here \(\S+\): 2$/) as unknown } }
  ])
})
