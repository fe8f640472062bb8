import type { PasskeyRequest } from '@netlet/contract'
import { expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { auditLog } from '../../infra/tables.ts'
import { eq } from '../../infra/db/drizzle.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import { useStarted } from '../../testing/use-started.ts'
import { writeSettings } from '../settings/index.ts'
import { accountRoutesWithPorts, visitorFromAnywhere } from './accounts.fixture.ts'
import { addApp, addPasskey, codeOf, OWN, wrongCodeOf } from './second-factor/second-factor.fixture.ts'

const shop = useStarted(async () => {
  const started = await startTestShop({ routes: accountRoutesWithPorts })
  await writeSettings(started.ctx, { operator_confirm_minutes: 10 })
  return started
})

const CONFIRM = '/api/users/confirm'
const password = TEST_PASSWORD
const needed = { code: 403, data: { reason: 'confirmation_needed' } }

/** Something that asks for a confirmation, and changes nothing. */
const ask = (client: TestClient) => client.post('/api/users/u/999999/baned_user/')
const done = { code: 404 }

test('a log-in counts for ten minutes, and so does each confirmation', async () => {
  const boss = await shop.admin()
  const browser = visitorFromAnywhere(shop)
  await browser.post('/api/auth/login', { username: boss.user.username, password })
  shop.advance(10 * MINUTE - 5000)
  expect(await ask(browser)).toMatchObject(done)
  shop.advance(6000)
  expect(await ask(browser)).toMatchObject(needed)
  expect(await browser.get('/api/users/u/')).toMatchObject({ code: 2000 })
  const copied = new Map(browser.cookies)
  expect(await browser.post(CONFIRM, { password })).toMatchObject({ code: 2000 })
  expect(await ask(browser)).toMatchObject(done)
  // As after a log-in, the token is another one.
  const cookie = [...copied].map(([name, value]) => `${name}=${value}`).join('; ')
  expect(await shop.visitor().post(CONFIRM, { password }, { cookie })).toMatchObject({ code: 401 })
  shop.advance(10 * MINUTE + 1000)
  expect(await ask(browser)).toMatchObject(needed)
})

test('a confirmation covers its own session only', async () => {
  const boss = await shop.admin()
  const stolen = visitorFromAnywhere(shop)
  await stolen.post('/api/auth/login', { username: boss.user.username, password })
  shop.advance(11 * MINUTE)
  expect(await boss.post(CONFIRM, { password })).toMatchObject({ code: 2000 })
  expect(await ask(boss)).toMatchObject(done)
  expect(await ask(stolen)).toMatchObject(needed)
})

test('an operator with a second factor needs it beside the password, and a code counts once', async () => {
  const boss = await shop.admin()
  const { secret } = await addApp(shop, boss)
  shop.advance(11 * MINUTE)
  const totp = (code: string) => ({ method: 'totp', code })
  const fieldsOf = (reply: { data: unknown }) => Object.keys((reply.data as { errors: object }).errors)
  const alone = await boss.post(CONFIRM, { password })
  expect([alone.code, fieldsOf(alone)]).toEqual([400, ['code']])
  const wrongPassword = await boss.post(CONFIRM, { password: 'Wrong#2026', second_factor: totp(codeOf(shop, secret)) })
  expect([wrongPassword.code, fieldsOf(wrongPassword)]).toEqual([400, ['password']])
  const wrongCode = await boss.post(CONFIRM, { password, second_factor: totp(wrongCodeOf(shop, secret)) })
  expect([wrongCode.code, fieldsOf(wrongCode)]).toEqual([400, ['code']])
  expect(await ask(boss)).toMatchObject(needed)
  // The wrong password has not used the code up.
  const proof = { password, second_factor: totp(codeOf(shop, secret)) }
  const both = await Promise.all([boss.post(CONFIRM, proof), boss.post(CONFIRM, proof)])
  expect(both.filter(({ code }) => code === 2000)).toHaveLength(1)
  expect(await ask(boss)).toMatchObject(done)
})

test('a passkey confirms beside the password', async () => {
  const boss = await shop.admin()
  const { passkey } = await addPasskey(shop, boss)
  shop.advance(11 * MINUTE)
  const { data: request } = await boss.post<PasskeyRequest>(`${OWN}options`)
  const second_factor = { method: 'passkey', assertion: passkey.answer(request) }
  expect(await boss.post(CONFIRM, { password, second_factor })).toMatchObject({ code: 2000 })
  expect(await ask(boss)).toMatchObject(done)
})

test('a stolen session cannot guess: twenty tries in fifteen minutes, recorded as security events', async () => {
  const boss = await shop.admin()
  shop.advance(11 * MINUTE)
  const codes: number[] = []
  for (let i = 0; i < 22; i++) codes.push((await boss.post(CONFIRM, { password: `Wrong#${i}` })).code)
  expect(codes.filter(code => code === 400)).toHaveLength(20)
  expect(await boss.post(CONFIRM, { password })).toMatchObject({ code: 429 })
  expect(await ask(boss)).toMatchObject(needed)
  const events = await shop.ctx.db.$count(auditLog, eq(auditLog.action, 'user.fail_confirmation'))
  expect(events).toBeGreaterThanOrEqual(20)
})

test('a session that was left to view the shop as a user comes back as old as it was', async () => {
  const [boss, customer] = [await shop.admin(), await shop.customer()]
  shop.advance(9 * MINUTE)
  expect(await boss.post('/api/users/admin/switch-user', { user_id: customer.user.id })).toMatchObject({ code: 2000 })
  shop.advance(2 * MINUTE)
  expect(await boss.post('/api/users/admin/switch-back')).toMatchObject({ code: 2000 })
  expect(await ask(boss)).toMatchObject(needed)
})

test('customers have nothing to confirm, and cannot', async () => {
  const customer = await shop.customer()
  shop.advance(HOUR)
  expect(await customer.post(CONFIRM, { password })).toMatchObject({ code: 403, data: { reason: 'forbidden' } })
})
