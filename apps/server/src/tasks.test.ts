import type { DeadLetter, Tasks } from '@netlet/contract'
import { eq, sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createHttpApp } from './app.ts'
import { redacted } from './infra/dead-letters.ts'
import { nextRun } from './infra/job-schedules.ts'
import { SESSION_COOKIE } from './domains/accounts/index.ts'
import { users } from './domains/accounts/tables.ts'
import { startTestShop, type TestShop } from './testing/shop.ts'
import { allJobs, allQueues } from './workers.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
const T = '/api/settings/tasks/'

// No worker runs: jobs stay where the test puts them.
beforeAll(async () => {
  shop = await startTestShop({ app: createHttpApp, queues: allQueues })
  admin = await shop.admin({ username: 'boss' })
})
afterAll(() => shop?.close())
beforeEach(() => shop.ctx.db.execute(sql`delete from pgboss.job`))

/** A permanently failed job. @returns its id among the dead letters */
async function dead(queue: string, data: object, error = 'no answer'): Promise<string> {
  const { rows } = await shop.ctx.db.execute<{ id: string }>(sql`
    insert into pgboss.job (name, data, source_name, source_id, source_retry_count, source_output, policy)
    values ('dead-letter', ${JSON.stringify(data)}::jsonb, ${queue}, gen_random_uuid(), 3,
      ${JSON.stringify({ message: error })}::jsonb, 'standard') returning id`)
  return rows[0]?.id ?? ''
}
type Letters = { data: DeadLetter[]; more: boolean }
const letters = async (query = '') => (await admin.get<Letters>(`${T}dead_letters/${query}`)).data
const audited = async () =>
  (
    await shop.ctx.db.execute(sql`select action from audit_log where action like 'settings.%jobs' order by id`)
  ).rows.map(row => row['action'])

test('schedules tell the next run and what came of the last one', async () => {
  await shop.ctx.db.execute(sql`
    insert into pgboss.job (name, state, started_on, completed_on, output, policy) values
      ('expire-orders', 'completed', now() - interval '2 minutes', now() - interval '2 minutes', null, 'short'),
      ('check-servers', 'failed', now() - interval '1 minute', now() - interval '1 minute', '{"message": "timeout"}', 'short')`)
  const { data } = await admin.get<Tasks>(T)
  expect(data.schedules.map(({ queue }) => queue)).toEqual(
    allJobs.filter(job => job.cron !== undefined).map(job => job.queue.name)
  )
  const of = (queue: string) => data.schedules.find(one => one.queue === queue)
  expect(of('expire-orders')).toMatchObject({ cron: '* * * * *', last: { result: 'completed', error: null } })
  expect(of('check-servers')).toMatchObject({ last: { result: 'failed', error: 'timeout' } })
  expect(of('repair-fleet')).toMatchObject({ last: { at: null, result: 'none' }, asked: false })
  expect(Date.parse(of('expire-orders')?.next_run ?? '')).toBeGreaterThan(Date.now() - 1000)
  expect(nextRun('7 * * * *', new Date('2026-01-01T10:08:00Z'))?.toISOString()).toBe('2026-01-01T11:07:00.000Z')
})

test('queues show how many jobs wait, since when, how many finished within the hour, and how many failed permanently', async () => {
  await shop.ctx.db.execute(sql`
    insert into pgboss.job (name, state, start_after, completed_on, policy) values
      ('send-mail', 'created', now() - interval '5 minutes', null, 'standard'),
      ('send-mail', 'retry', now() + interval '5 minutes', null, 'standard'),
      ('send-mail', 'completed', now(), now() - interval '5 minutes', 'standard'),
      ('send-mail', 'completed', now(), now() - interval '2 hours', 'standard')`)
  await dead('send-mail', {})
  const { data } = await admin.get<Tasks>(T)
  const mail = data.queues.find(({ queue }) => queue === 'send-mail')
  expect(mail).toMatchObject({ waiting: 1, later: 1, active: 0, dead: 1, finished: 1 })
  expect(Date.parse(mail?.oldest ?? '')).toBeLessThan(Date.now() - 4 * 60_000)
  expect(data.queues.map(({ queue }) => queue).toSorted()).toEqual(allQueues.map(({ name }) => name).toSorted())
})

test('what runs by itself is run now; asked twice it waits once; what has no schedule is not', async () => {
  const replies = await Promise.all([1, 2, 3].map(() => admin.post(`${T}run/`, { queue: 'repair-fleet' })))
  expect(replies.map(reply => reply.status)).toEqual([200, 200, 200])
  const { rows } = await shop.ctx.db.execute(sql`select name from pgboss.job where name = 'repair-fleet'`)
  expect(rows).toHaveLength(1)
  const { data } = await admin.get<Tasks>(T)
  expect(data.schedules.find(({ queue }) => queue === 'repair-fleet')?.asked).toBe(true)
  expect((await admin.post(`${T}run/`, { queue: 'send-mail' })).status).toBe(404)
  expect((await admin.post(`${T}run/`, { queue: 'nothing' })).status).toBe(404)
})

test('dead letters show what failed and why, without secrets and without what names a person', async () => {
  await dead(
    'send-mail',
    {
      to: 'ada@example.com',
      template: 'code',
      data: { username: 'ada', sealed_code: 'c2VhbGVk', expires_at: '2026-01-01T00:00:00Z' }
    },
    'ada@example.com was refused with key SG.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
  )
  const { data } = await letters()
  expect(data).toMatchObject([
    {
      queue: 'send-mail',
      tries: 4,
      error: '••• was refused with key •••',
      payload: {
        to: '•••',
        template: 'code',
        data: { username: '•••', sealed_code: '•••', expires_at: '2026-01-01T00:00:00Z' }
      }
    }
  ])
  expect(redacted({ apiToken: 'x', orderId: 7, ok: true, note: 'two words', list: ['a@b.c'], none: null })).toEqual({
    apiToken: '[secret]',
    orderId: 7,
    ok: true,
    note: '•••',
    list: ['•••'],
    none: null
  })
})

test('dead letters are sent again once, even if repeated and concurrent', async () => {
  const ids = [await dead('send-mail', { n: 1 }), await dead('converge-server', { serverId: 2 })]
  const replies = await Promise.all(
    [1, 2, 3].map(() => admin.post<{ done: number }>(`${T}dead_letters/retry/`, { ids }))
  )
  expect(replies.reduce((sum, { data }) => sum + data.done, 0)).toBe(2)
  const { rows } = await shop.ctx.db.execute(
    sql`select name, data from pgboss.job where state = 'created' order by name`
  )
  expect(rows).toEqual([
    { name: 'converge-server', data: { serverId: 2 } },
    { name: 'send-mail', data: { n: 1 } }
  ])
  expect((await letters()).data).toEqual([])
  expect(await audited()).toContain('settings.retry_jobs')
})

test('dead letters are discarded once; other jobs cannot be', async () => {
  const id = await dead('send-mail', {})
  await shop.ctx.db.execute(sql`insert into pgboss.job (name, policy) values ('send-mail', 'standard')`)
  const { rows } = await shop.ctx.db.execute<{ id: string }>(sql`select id from pgboss.job where name = 'send-mail'`)
  const discard = async () =>
    (await admin.post<{ done: number }>(`${T}dead_letters/discard/`, { ids: [id, rows[0]?.id] })).data.done
  expect([await discard(), await discard()]).toEqual([1, 0])
  expect((await shop.ctx.db.execute(sql`select 1 from pgboss.job where name = 'send-mail'`)).rows).toHaveLength(1)
  expect((await audited()).filter(action => action === 'settings.discard_jobs')).toHaveLength(1)
})

test('dead letters come in pages, and by queue', async () => {
  for (let at = 0; at < 53; at++) await dead('send-mail', { at })
  await dead('order-task', {})
  const first = await letters('?queue=send-mail')
  expect([first.data.length, first.more]).toEqual([50, true])
  const rest = await letters(`?queue=send-mail&after=${first.data.at(-1)?.id}`)
  expect([rest.data.length, rest.more]).toEqual([3, false])
  expect(new Set([...first.data, ...rest.data].map(({ id }) => id)).size).toBe(53)
  expect((await letters('?queue=order-task')).data).toHaveLength(1)
})

test('the job monitor is for roles that may see the tasks', async () => {
  for (const [operatorRole, status] of [
    ['viewer', 403],
    ['support', 403],
    ['operations', 200]
  ] as const) {
    const client = await shop.admin()
    await shop.ctx.db.update(users).set({ operatorRole }).where(eq(users.id, client.user.id))
    const cookie = `${SESSION_COOKIE}=${client.cookies.get(SESSION_COOKIE)}`
    const reply = await fetch(`${shop.url}/task-monitor/queues`, { headers: { cookie } })
    expect(reply.status, operatorRole).toBe(status)
    expect((await client.get(T)).status, operatorRole).toBe(status)
  }
})

test('the job monitor is shown to administrators only, reads only, and shows no payload', async () => {
  const get = (path: string, cookie = '', method = 'GET') =>
    fetch(`${shop.url}${path}`, { method, redirect: 'manual', headers: cookie ? { cookie } : {} })
  const cookieOf = (client: typeof admin) => `${SESSION_COOKIE}=${client.cookies.get(SESSION_COOKIE)}`
  expect((await get('/task-monitor')).status).toBe(401)
  expect((await get('/task-monitor/queues', cookieOf(await shop.customer()))).status).toBe(403)
  const mine = cookieOf(admin)
  const page = await get('/task-monitor/queues', mine)
  expect(page.status).toBe(200)
  expect(await page.text()).toContain('audit-inventory')
  const job = await dead('send-mail', { to: 'marker@example.com' })
  const asked = [
    '/jobs',
    '/queues/dead-letter',
    '/jobs.data',
    '/queues/dead-letter.data',
    '/jobs?state=all&col=data|Data&col=output|Output',
    '/queues/dead-letter?state=all&col=data|Data',
    '/jobs?state=all&data.to=marker@example.com'
  ]
  for (const path of asked)
    expect(await (await get(`/task-monitor${path}`, mine)).text(), path).not.toContain('marker@')
  // Without the routes that its pages request, a click on one of their links ends in an error.
  const version = /manifest-(\w+)\.js/.exec(await (await get('/task-monitor', mine)).text())?.[1] ?? ''
  const manifest = await get(`/task-monitor/__manifest?paths=%2Ftask-monitor%2Fqueues&version=${version}`, mine)
  expect(manifest.status).toBe(200)
  expect(Object.keys((await manifest.json()) as object)).toContain('routes/queues._index')
  const outdated = await get('/task-monitor/__manifest?paths=%2Ftask-monitor%2Fqueues&version=0', mine)
  expect(outdated.headers.get('x-remix-reload-document')).toBe('true')
  const first = await get('/task-monitor.data', mine)
  expect(first.status).toBe(200)
  expect(first.headers.get('content-type')).not.toContain('html')
  expect((await get('/task-monitor.data')).status).toBe(401)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("script-src 'self' 'sha256-")
  expect(policy).not.toMatch(/script-src[^;]*unsafe/)
  expect((await get('/task-monitor/queues/send-mail/jobs/7f1b0c9e-0000-4000-8000-000000000000', mine)).status).toBe(404)
  // The monitor's paths are case-insensitive.
  for (const path of ['Jobs', 'JOBS', 'j%4Fbs', '/jobs', 'jobs/'])
    for (const kind of ['', '.data'])
      expect((await get(`/task-monitor/queues/dead-letter/${path}/${job}${kind}`, mine)).status, path).toBe(404)
  for (const path of ['jobs\\7f1b', 'jobs%5c7f1b', 'jobs%2f7f1b', '..%2fqueues/x/jobs/7f1b', '%zz'])
    expect((await get(`/task-monitor/queues/send-mail/${path}`, mine)).status, path).toBeGreaterThanOrEqual(400)
  expect((await get('/task-monitor/queues/create', mine, 'POST')).status).toBe(404)
})
