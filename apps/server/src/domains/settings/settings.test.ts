import { SECRET_KEPT, SECRET_SETTINGS, Settings, type LogTail } from '@netlet/contract'
import { desc, eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createSecrets } from '../../infra/secrets.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { auditLog } from '../../infra/tables.ts'
import { readSettings, settingsRoutes, storeLogLines, writeSettings } from './index.ts'
import { readSome } from './read.ts'
import { settings } from './tables.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
let platformChanges = 0

const CONFIG = '/api/settings/config'
const save = (form: Record<string, unknown>) => admin.post<Settings>(CONFIG, form)
const lastEntry = async () => {
  const [entry] = await shop.ctx.db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1)
  return entry
}

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, own) =>
      settingsRoutes(mount, own, {
        async onPlatformChange() {
          platformChanges++
        }
      })
  })
  admin = await shop.admin()
})

beforeEach(async () => {
  await shop.ctx.db.delete(settings)
  platformChanges = 0
})

afterAll(() => shop.close())

test('settings and logs are for administrators, links and geofeed for everyone', async () => {
  const customer = await shop.customer()
  for (const [client, status] of [
    [shop.visitor(), 401],
    [customer, 403]
  ] as const) {
    const replies = [await client.get(CONFIG), await client.post(CONFIG, {}), await client.get('/api/settings/logs')]
    expect(replies.map(reply => reply.status)).toEqual([status, status, status])
  }
  expect((await shop.visitor().get('/api/settings/social')).data).toEqual({ discord: '', twitter: '' })
  expect((await shop.visitor().get('/geofeed.csv')).status).toBe(200)
})

test('the limits of customers’ changes and resets are bounded and audited; an empty limit of resets means none', async () => {
  const wrong = await save({ customer_changes_per_term: '', customer_resets_per_term: '1.5' })
  expect(wrong).toMatchObject({
    status: 400,
    data: {
      errors: {
        customer_changes_per_term: 'Must be a number from 0 to 1000',
        customer_resets_per_term: 'Must be a whole number from 0 to 1000, or empty'
      }
    }
  })
  for (const value of [-1, 1001, '1e3', null, true])
    expect((await save({ customer_resets_per_term: value })).status).toBe(400)
  const quotas = ['customer_changes_per_term', 'customer_resets_per_term'] as const
  expect(await readSome(shop.ctx.db, quotas)).toEqual({ customer_changes_per_term: 0, customer_resets_per_term: 10 })
  const saved = await save({ customer_changes_per_term: '3', customer_resets_per_term: '' })
  expect(saved.data).toMatchObject({ customer_changes_per_term: 3, customer_resets_per_term: '' })
  expect(await readSome(shop.ctx.db, quotas)).toEqual({ customer_changes_per_term: 3, customer_resets_per_term: '' })
  expect(await lastEntry()).toMatchObject({
    action: 'settings.save',
    before: { customer_changes_per_term: 0, customer_resets_per_term: 10 },
    after: { customer_changes_per_term: 3, customer_resets_per_term: '' }
  })
})

test('what was never saved shows its default; what a form leaves out stays', async () => {
  expect((await admin.get(CONFIG)).data).toEqual({ ...Settings.parse({}), version: expect.any(String) as unknown })
  await save({ billing_rate: '2.5', email_code_expire: 300 })
  const after = await save({ support_twitter: 'https://social.example/netlet' })
  expect(after.data).toMatchObject({
    billing_rate: 2.5,
    email_code_expire: 300,
    support_twitter: 'https://social.example/netlet'
  })
  expect((await admin.get(CONFIG)).data).toEqual(after.data)
  expect((await shop.visitor().get('/api/settings/social')).data).toEqual({
    discord: '',
    twitter: 'https://social.example/netlet'
  })
})

test('no secret reaches a browser, the log or the table; a masked one stays, an empty one is deleted', async () => {
  const { db, secrets } = shop.ctx
  const all = Object.fromEntries(SECRET_SETTINGS.map((key, at) => [key, `hush-${at}-${key}`]))
  const saved = await save(all)
  const masked = Object.fromEntries(SECRET_SETTINGS.map(key => [key, SECRET_KEPT]))
  expect(saved.data).toMatchObject(masked)
  const kept = await save({ ...saved.data, discord_client_id: 'shown' })
  expect(kept.data).toMatchObject({ ...masked, discord_client_id: 'shown' })
  expect(await readSettings(db, secrets)).toMatchObject(all)

  const rest = Object.fromEntries(Object.entries(all).filter(([key]) => key !== 'discord_bot_token'))
  expect((await save({ discord_bot_token: '' })).data.discord_bot_token).toBe('')
  expect(await readSettings(db, secrets)).toMatchObject({ ...rest, discord_bot_token: '' })

  const everything = JSON.stringify([
    saved,
    kept,
    await admin.get(CONFIG),
    await db.select().from(auditLog),
    (await db.select().from(settings)).map(row => [row.key, row.value, row.secret?.toString('latin1')])
  ])
  expect(everything).not.toContain('hush-')
})

test('each change is logged with what was before; saving the same changes nothing', async () => {
  await save({ billing_rate: 3, shopify_app_key: 'token one' })
  expect(await lastEntry()).toMatchObject({
    actorName: admin.user.username,
    action: 'settings.save',
    before: { billing_rate: 1, shopify_app_key: '' },
    after: { billing_rate: 3, shopify_app_key: '[secret]' }
  })
  const before = await lastEntry()
  await save({ billing_rate: 3, shopify_app_key: SECRET_KEPT })
  expect(await lastEntry()).toEqual(before)
})

test('only a change of the connection to the platform asks for webhooks', async () => {
  await save({ billing_rate: 3, support_discord: 'https://chat.example/netlet' })
  expect(platformChanges).toBe(0)
  await save({ shopify_shop_url: 'shop.example.com' })
  expect(platformChanges).toBe(1)
  await save({ shopify_shop_url: 'shop.example.com' })
  expect(platformChanges).toBe(1)
})

test('the platform gets its stored secrets at the address only that they were entered for', async () => {
  const entered = { shopify_api_secret: 'the secret', shopify_app_key: 'the token' }
  await save({ shopify_shop_url: 'shop.example.com', ...entered })
  const again =
    'The address has changed. Please enter this again. The shop does not send stored secrets to another machine.'
  const errors = { shopify_api_secret: again, shopify_app_key: again }
  for (const kept of [{}, { shopify_api_secret: SECRET_KEPT, shopify_app_key: SECRET_KEPT }])
    expect(await save({ shopify_shop_url: 'http://127.0.0.1:9', ...kept })).toMatchObject({
      status: 400,
      data: { errors }
    })
  expect(await save({ shopify_shop_url: 'other.example.com', ...entered })).toMatchObject({ code: 2000 })
  expect(await save({ shopify_shop_url: '', shopify_api_secret: '', shopify_app_key: '' })).toMatchObject({
    code: 2000
  })
})

test('a wrong value is refused by its field and nothing of the form is saved', async () => {
  const wrong: [field: string, value: unknown, msg: string][] = [
    ['level_points_decay_day', 29, 'Must be a number from 1 to 28'],
    ['level_points_decay_day', 1.5, 'Must be a whole number from 1 to 28'],
    ['level_points_decay_rate', 1.1, 'Must be a number from 0 to 1'],
    ['billing_rate', -1, 'Must be a number from 0 to 1000'],
    ['billing_rate', '', 'Must be a number from 0 to 1000'],
    ['email_code_expire', null, 'Must be a number from 60 to 86400'],
    ['email_method', 'pigeon', 'Must be sendgrid, mailgun or smtp'],
    ['support_twitter', 'javascript:alert(1)', 'Must be a web address, such as https://example.com'],
    ['shopify_shop_url', 'http://', 'Must be a domain, such as my-shop.myshopify.com, or a web address'],
    ['email_from', 'a@example.com\nBcc: b@example.com', 'Contains a character that is not allowed'],
    ['discord_client_id', 'a\0b', 'Contains a character that is not allowed'],
    ['discord_client_id', '\ud800', 'Contains a character that is not allowed'],
    ['geofeed', '192.0.2.0/24,US\nnonsense,US', "Line 2: 'nonsense' is not an address range"]
  ]
  for (const [field, value, msg] of wrong)
    expect(await save({ max_unpaid_orders: 7, [field]: value })).toMatchObject({
      status: 400,
      msg,
      data: { errors: { [field]: msg } }
    })
  expect((await admin.get<Settings>(CONFIG)).data.max_unpaid_orders).toBe(20)
})

test('the geofeed is served as it was saved', async () => {
  const text = '# ours\n192.0.2.0/24,US,US-NY,New York,\n'
  expect((await save({ geofeed: text })).code).toBe(2000)
  const feed = await shop.visitor().fetch('/geofeed.csv')
  expect(feed.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(await feed.text()).toBe(text)
  await save({ geofeed: '' })
  expect(await (await shop.visitor().fetch('/geofeed.csv')).text()).toBe('')
})

test('values that cannot be read any more count as not saved: the shop runs on', async () => {
  const { db } = shop.ctx
  await save({ shopify_app_key: 'token', billing_rate: 4 })
  await db.update(settings).set({ value: 'many' }).where(eq(settings.key, 'billing_rate'))
  const other = createSecrets('another secret, as after a restore elsewhere')
  expect(await readSettings(db, other)).toMatchObject({ shopify_app_key: '', billing_rate: 1 })
})

test('the logs show the latest lines of both kinds, oldest first, and do not grow without end', async () => {
  const store = storeLogLines(shop.ctx)
  const at = shop.ctx.now()
  const lines = (source: 'server' | 'task', from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ source, line: `${source} ${from + index}`, at }))
  await store(lines('task', 0, 3))
  await Promise.all([store(lines('server', 0, 400)), store(lines('task', 3, 5))])
  await store(lines('server', 400, 700))
  const { data } = await admin.get<{ server_logs: string; task_logs: string }>('/api/settings/logs')
  expect(data.task_logs.split('\n')).toEqual(['task 0', 'task 1', 'task 2', 'task 3', 'task 4'])
  const server = data.server_logs.split('\n')
  expect(server).toHaveLength(500)
  expect([server[0], server[499]]).toEqual(['server 200', 'server 699'])
})

test('the log of one kind is read from a line on, with the level of each line', async () => {
  const at = shop.ctx.now()
  await storeLogLines(shop.ctx)([
    { source: 'server', line: '2026-06-15T08:00:00.000Z INFO begun', at },
    { source: 'server', line: '2026-06-15T08:00:01.000Z ERROR broken\n    at x', at },
    { source: 'task', line: '2026-06-15T08:00:02.000Z WARN job failed', at }
  ])
  const tail = async (query: string) =>
    (await admin.get<LogTail>(`/api/settings/log_lines?${query}`)).data.lines.map(({ id, level }) => ({ id, level }))
  const all = await tail('source=server')
  expect(all.slice(-2).map(({ level }) => level)).toEqual(['INFO', 'ERROR'])
  expect(await tail(`source=server&after_id=${all.at(-2)?.id}`)).toEqual(all.slice(-1))
  expect(await tail(`source=server&after_id=${all.at(-1)?.id}`)).toEqual([])
  expect((await tail('source=task')).at(-1)?.level).toBe('WARN')
  expect((await admin.get('/api/settings/log_lines?source=secrets')).status).toBe(400)
})

test('a text that looks like a number, or like a word of JSON, is read as it was saved', async () => {
  for (const text of ['123456789012345678', '0100', 'true', 'null', '"quoted"', '[1]']) {
    await save({ discord_client_id: text })
    expect((await admin.get<Settings>(CONFIG)).data.discord_client_id).toBe(text)
  }
})

test.each(['JPY', 'KWD'])(
  '%s has no cents: the shop does not change to it, and where it was saved before, other settings are saved',
  async shop_currency => {
    const refused = await save({ shop_currency, billing_rate: 2 })
    expect(refused).toMatchObject({
      status: 400,
      data: { field_reasons: { shop_currency: { reason: 'must_have_cents' } } }
    })
    expect(await readSettings(shop.ctx.db, shop.ctx.secrets)).toMatchObject({ shop_currency: 'USD', billing_rate: 1 })
    await writeSettings(shop.ctx, { shop_currency })
    expect(await save({ shop_currency, billing_rate: 2 })).toMatchObject({ code: 2000 })
  }
)
