import { and, asc, eq, inArray } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import { useStarted } from '../../testing/use-started.ts'
import { mailJobs } from '../mail/index.ts'
import { notices } from '../notices/tables.ts'
import { accountRoutesWithPorts, failed, visitorFromAnywhere } from './accounts.fixture.ts'
import { addApp, firstStep, STEP, wrongCodeOf } from './second-factor/second-factor.fixture.ts'
import { noticeJobs } from '../notices/index.ts'
import { readOperators } from './operators.ts'
import { users } from './tables.ts'

const ports = { finders: [], operators: readOperators, ownsAddresses: async () => false }
const shop = useStarted(() =>
  startTestShop({ routes: accountRoutesWithPorts, jobs: [...mailJobs, ...noticeJobs(ports)] })
)

const LOGIN = '/api/auth/login'
const VERBS = [
  'user.fail_login',
  'user.fail_confirmation',
  'user.fail_second_factor',
  'user.refuse_rights',
  'user.change_role'
]

const eventsOf = (userId: number) =>
  shop.ctx.db
    .select({ action: auditLog.action, actor: auditLog.actorName, before: auditLog.before, after: auditLog.after })
    .from(auditLog)
    .where(and(eq(auditLog.targetId, String(userId)), inArray(auditLog.action, VERBS)))
    .orderBy(asc(auditLog.id))
const wrongLogin = (username: string) => visitorFromAnywhere(shop).post(LOGIN, { username, password: 'Wrong#2026' })

test('a failed log-in of an operator is recorded, one of a customer is not', async () => {
  const [boss, client] = [await shop.admin(), await shop.customer()]
  await wrongLogin(boss.user.username)
  await wrongLogin(client.user.username)
  await visitorFromAnywhere(shop).post(LOGIN, { username: boss.user.username, password: TEST_PASSWORD })
  expect(await eventsOf(boss.user.id)).toMatchObject([{ action: 'user.fail_login', actor: 'visitor', after: null }])
  expect(await eventsOf(client.user.id)).toEqual([])
})

test('so is a wrong password with which an operator confirms a session', async () => {
  const boss = await shop.admin()
  expect((await boss.post('/api/users/confirm', { password: 'Wrong#2026' })).code).toBe(400)
  expect((await eventsOf(boss.user.id)).map(({ action }) => action)).toEqual(['user.fail_confirmation'])
})

test('so are an operator’s wrong second factors, at the log-in and in a session', async () => {
  const boss = await shop.admin()
  const { secret, id } = await addApp(shop, boss)
  const code = wrongCodeOf(shop, secret)
  const visitor = visitorFromAnywhere(shop)
  const ticket = await firstStep(visitor, boss.user.username)
  expect((await visitor.post(STEP, { ticket, method: 'totp', code })).code).toBe(400)
  const second_factor = { method: 'totp', code }
  expect((await boss.delete('/api/users/second_factor/', {}, { id, second_factor })).code).toBe(400)
  expect((await eventsOf(boss.user.id)).map(({ action, actor }) => [action, actor])).toEqual([
    ['user.fail_second_factor', 'visitor'],
    ['user.fail_second_factor', boss.user.username]
  ])
})

test('so are calls that an operator’s role does not allow, and changes of roles', async () => {
  const [boss, helper] = [await shop.admin(), await shop.admin()]
  const { id } = helper.user
  expect((await boss.put(`/api/users/u/${id}/`, { operator_role: 'viewer' })).code).toBe(2000)
  const reader = visitorFromAnywhere(shop)
  await reader.post(LOGIN, { username: helper.user.username, password: TEST_PASSWORD })
  expect((await reader.post(`/api/users/u/${boss.user.id}/baned_user/`)).code).toBe(403)
  expect((await boss.put(`/api/users/u/${id}/`, { is_superuser: false })).code).toBe(2000)
  expect(await eventsOf(id)).toEqual([
    { action: 'user.change_role', actor: boss.user.username, before: { role: 'owner' }, after: { role: 'viewer' } },
    {
      action: 'user.refuse_rights',
      actor: helper.user.username,
      before: null,
      after: { call: 'POST /api/users/u/:id/baned_user/' }
    },
    { action: 'user.change_role', actor: boss.user.username, before: { role: 'viewer' }, after: { role: null } }
  ])
})

test('a flood leaves twenty entries an hour, and one notice a day', async () => {
  // From an hour after midnight, so that its hours are within one day.
  shop.advance(DAY - (shop.ctx.now().getTime() % DAY) + HOUR)
  const helper = await shop.admin()
  const { id } = helper.user
  await shop.ctx.db.update(users).set({ operatorRole: 'viewer' }).where(eq(users.id, id))
  const told = async () => {
    await shop.drain()
    return shop.ctx.db.$count(notices, eq(notices.words, 'security_events'))
  }
  const calls = (count: number) =>
    Promise.all(Array.from({ length: count }, () => helper.post('/api/users/u/1/baned_user/')))
  await calls(9)
  expect(await told()).toBe(0)
  await calls(16)
  expect(await told()).toBe(1)
  expect(await eventsOf(id)).toHaveLength(20)
  shop.advance(HOUR + 1000)
  await calls(12)
  expect(await told()).toBe(1)
  expect(await eventsOf(id)).toHaveLength(32)
  // It has gone on until the next day.
  shop.advance(DAY)
  await failed(shop, 'security', 12)
  await calls(2)
  expect(await told()).toBe(2)
})
