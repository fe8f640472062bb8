import { SECRET_SETTINGS } from '@netlet/contract'
import { sql } from '../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SESSION_COOKIE } from '../domains/accounts/index.ts'
import { TEST_PASSWORD } from '../testing/shop.ts'
import { describeCalls } from './calls.ts'
import { textOf } from './endless.fixture.ts'
import { CLOSED_PORT, startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'

/** Settings that an administrator enters and that no reply may show. */
const SETTINGS = Object.fromEntries(SECRET_SETTINGS.map((name, at) => [name, `secret-setting-${at}`]))
const SSH_PASSWORD = 'secret-ssh-password'
const AGENT_TOKEN = 'secret-agent-token'
const USER_PASSWORD = 'Secret#Entered1'

let shop: StockedShop
let admin: Buyer
let secrets: string[]

beforeAll(async () => {
  shop = await startStockedShop()
  admin = await shop.admin()
  const customer = await shop.customer()
  const order = await shop.buy(customer)
  const done = [
    await admin.post('/api/settings/config', SETTINGS),
    await admin.put(`/api/servers/servers/${shop.serverId}/`, {
      name: 'node',
      ip: '127.0.0.1',
      cidr: '127.40.0.0/20',
      port: CLOSED_PORT,
      agent_port: CLOSED_PORT,
      password: SSH_PASSWORD,
      agent_token: AGENT_TOKEN
    }),
    await admin.post(`/api/users/u/${customer.user.id}/change_password/`, { password: USER_PASSWORD }),
    await shop.visitor().post('/api/users/email_validate', { email: 'new@example.com', type: 'register' })
  ]
  expect(done.map(reply => reply.msg)).toEqual(['success', 'success', 'success', 'success'])
  await admin.get(`/api/servers/servers/${shop.serverId}/get_server_info/`)
  await admin.get(`/api/orders/order_list/${order.id}/check_proxy/`)
  const { key } = await shop.apiKey(customer.user.id, 'read', USER_PASSWORD)
  secrets = [
    ...Object.values(SETTINGS),
    SSH_PASSWORD,
    AGENT_TOKEN,
    USER_PASSWORD,
    TEST_PASSWORD,
    key,
    admin.cookies.get(SESSION_COOKIE) ?? '',
    shop.ctx.config.appSecret
  ]
})
afterAll(() => shop?.close())

const toldIn = (text: string) => secrets.filter(secret => secret === '' || text.includes(secret))

test('no call gives a secret back, not even to an administrator', async () => {
  const { calls } = describeCalls()
  const readable = calls.filter(call => call.method === 'GET' && !call.path.includes('logout'))
  let answered = 0
  for (const call of readable) {
    const reply = await admin.fetch(`${call.path.replace(':id', '1').replace(':key', 'columns')}?limit=1000&tags=1`)
    const text = await textOf(reply)
    if (reply.status === 200) answered++
    expect(toldIn(text), call.path).toEqual([])
    expect(text, call.path).not.toMatch(/\$argon2|password_hash|token_hash/i)
  }
  expect(answered).toBeGreaterThan(30)
})

test('saving settings gives none back either, and the mark in their place leaves them as they are', async () => {
  const shown = (await admin.get<Record<string, unknown>>('/api/settings/config')).data
  const saved = await admin.post('/api/settings/config', shown)
  expect(saved.code).toBe(2000)
  expect(toldIn(JSON.stringify(saved.data))).toEqual([])
})

test('no table holds one in the clear, those of the audit log and of the waiting jobs included', async () => {
  const { rows } = await shop.ctx.db.execute<{ name: string }>(
    sql`select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
      where schemaname in ('public', 'inventory') or (schemaname = 'pgboss' and tablename like 'job%')`
  )
  expect(rows.length).toBeGreaterThan(40)
  for (const { name } of rows) {
    const content = await shop.ctx.db.execute<{ text: string | null }>(
      sql`select string_agg(t::text, ' ') as text from ${sql.raw(name)} t`
    )
    expect(toldIn(content.rows[0]?.text ?? ''), name).toEqual([])
  }
})
