import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { SYSTEM, type UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { auditLog } from '../../infra/tables.ts'
import { auditNames } from '../../order-names.ts'
import { auditRoutes } from './index.ts'
import { fromNow } from '../../testing/later.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: (mount, ctx) => auditRoutes(mount, ctx, auditNames) })
  const { ctx } = shop
  const boss: UserActor = {
    kind: 'user',
    id: 1,
    username: 'boss1',
    isSuperuser: true,
    role: 'owner',
    ip: '198.51.100.7',
    sessionHash: null,
    impersonator: null,
    scopes: null
  }
  await command(ctx, boss, async unit => unit.audit('user.edit', 42, { before: { coins: 1 }, after: { coins: 2 } }))
  await command(ctx, SYSTEM, async unit => unit.audit('order.expire', 'ORD_7'))
  await command(ctx, { ...boss, id: 5, username: 'anna', impersonator: { id: 1, username: 'boss1' } }, async unit =>
    unit.audit('server.edit', 3, {
      after: {
        password: 'hunter2',
        agent: { api_key: 'k', token: 't' },
        list: [{ secret: 's', apiKey: 'k', sshKey: 'k', apikey: 'k', pwd: 'p' }],
        passwordHash: '',
        has_password: true,
        hasToken: false,
        has_secret: 'hunter2',
        monkey: 'ape'
      }
    })
  )
})
afterAll(() => shop.close())

type Page = { data: Record<string, unknown>[]; total: number }

test('an administrator reads and searches who changed what; other users cannot', async () => {
  const admin = await shop.admin()
  const list = async (query: string) => (await admin.get<Page>(`/api/settings/audit_log/?${query}`)).data
  const all = await list('limit=2&offset=0')
  expect(all).toMatchObject({ total: 3, limit: 2, offset: 0 })
  expect(all.data.map(entry => entry['action'])).toEqual(['server.edit', 'order.expire'])
  const found = await list('search=user 42')
  expect(found).toMatchObject({
    total: 1,
    data: [
      {
        actor: 'boss1',
        action: 'user.edit',
        target_type: 'user',
        target_id: '42',
        before: { coins: 1 },
        after: { coins: 2 },
        ip: '198.51.100.7'
      }
    ]
  })
  expect((await list('search=BOSS1')).total).toBe(2)
  expect((await list('search=system')).data).toMatchObject([{ actor: 'system', target_id: 'ORD_7', ip: null }])
  expect((await list('search=ORD%25')).total).toBe(0)
  expect((await (await shop.customer()).get('/api/settings/audit_log/')).code).toBe(403)
  expect((await shop.visitor().get('/api/settings/audit_log/')).code).toBe(401)
})

test('secrets do not get into the log', async () => {
  const rows = await shop.ctx.db.select().from(auditLog)
  expect(rows.at(-1)?.after).toEqual({
    password: '[secret]',
    agent: { api_key: '[secret]', token: '[secret]' },
    list: [{ secret: '[secret]', apiKey: '[secret]', sshKey: '[secret]', apikey: '[secret]', pwd: '[secret]' }],
    passwordHash: '',
    has_password: true,
    hasToken: false,
    has_secret: '[secret]',
    monkey: 'ape'
  })
})

test('entries are found by who acted, on what, what was done, and when', async () => {
  const admin = await shop.admin()
  const found = async (query: string) =>
    (await admin.get<Page>(`/api/settings/audit_log/?${query}`)).data.data.map(entry => entry['action'])
  expect(await found('actor=BOSS1')).toEqual(['server.edit', 'user.edit'])
  expect(await found('target_type=user&target_id=42')).toEqual(['user.edit'])
  expect(await found('target_type=order')).toEqual(['order.expire'])
  expect(await found('verb=edit')).toEqual(['server.edit', 'user.edit'])
  expect(await found('verb=edi')).toEqual([])
  expect(await found('actor=boss1&verb=edit&target_type=server&search=server%203')).toEqual(['server.edit'])
  const day = (ahead: number) =>
    fromNow(shop.ctx, ahead * 86_400_000)
      .toISOString()
      .slice(0, 10)
  expect(await found(`from=${day(0)}&until=${day(0)}`)).toHaveLength(3)
  expect(await found(`from=${day(-9)}&until=${day(-1)}`)).toEqual([])
  expect(await found(`from=${day(1)}`)).toEqual([])
  expect((await admin.get('/api/settings/audit_log/?from=yesterday')).status).toBe(400)
  expect((await admin.get('/api/settings/audit_log/?target_type=planet')).status).toBe(400)
})

test('an administrator who views the shop as a user is named, and so is the user', async () => {
  const admin = await shop.admin()
  const { data } = await admin.get<Page>('/api/settings/audit_log/?target_type=server')
  expect(data.data).toMatchObject([{ actor: 'boss1', viewed_as: 'anna', ip: '198.51.100.7' }])
})
