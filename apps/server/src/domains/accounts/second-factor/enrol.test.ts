import type { PasskeyRequest } from '@netlet/contract'
import { and, eq } from '../../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { MINUTE } from '../../../infra/clock.ts'
import { auditLog } from '../../../infra/tables.ts'
import type { TestClient } from '../../../testing/client.ts'
import { startTestShop } from '../../../testing/shop.ts'
import { useStarted } from '../../../testing/use-started.ts'
import { mailJobs } from '../../mail/index.ts'
import { accountRoutesWithPorts, visitorFromAnywhere } from '../accounts.fixture.ts'
import { testPasskey } from './authenticator.fixture.ts'
import {
  addApp,
  addPasskey,
  codeOf,
  factorsOf,
  firstStep,
  OWN,
  password,
  STEP,
  wrongCodeOf
} from './second-factor.fixture.ts'
import { recoveryCodes, secondFactors } from './tables.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs }))
const CONFIRM = `${OWN}confirm`
const WRONG = 'The code is wrong or was already used'

const actionsOf = async (userId: number): Promise<string[]> => {
  const of = and(eq(auditLog.targetType, 'user'), eq(auditLog.targetId, String(userId)))
  return (await shop.ctx.db.select().from(auditLog).where(of).orderBy(auditLog.id)).map(({ action }) => action)
}

const subjectsTo = async (email: string): Promise<string[]> => {
  await shop.drain()
  return shop.outbox.mails.filter(mail => mail.to === email).map(mail => mail.subject)
}

const remove = (client: TestClient, id: number, more: object = { password }) => client.delete(OWN, {}, { id, ...more })

test('an app is added by its first code; its secret is sealed, and its codes are hashed', async () => {
  const client = await shop.customer()
  expect(await factorsOf(client)).toEqual({ factors: [], recovery_codes_left: 0, required: false, passkeys: true })
  const begun = await client.post<{ totp: { secret: string; uri: string } }>(OWN, { method: 'totp', password })
  const { secret, uri } = begun.data.totp
  expect(uri).toBe(`otpauth://totp/Netlet:${client.user.username}?secret=${secret}&issuer=Netlet`)
  // Half done changes nothing.
  expect((await factorsOf(client)).factors).toEqual([])
  expect((await shop.visitor().post('/api/auth/login', { username: client.user.username, password })).code).toBe(2000)
  expect(await client.post(CONFIRM, { code: wrongCodeOf(shop, secret) })).toMatchObject({
    code: 400,
    data: { errors: { code: WRONG } }
  })
  const code = codeOf(shop, secret)
  const replies = await Promise.all([1, 2, 3].map(() => client.post(CONFIRM, { code, name: 'Phone' })))
  expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 409, 2000])
  expect(await factorsOf(client)).toMatchObject({
    factors: [{ method: 'totp', name: 'Phone', last_used_at: expect.any(String) }],
    recovery_codes_left: 10
  })
  const [stored] = await shop.ctx.db.select().from(secondFactors).where(eq(secondFactors.userId, client.user.id))
  expect(stored?.secret?.includes(secret)).toBe(false)
  expect(shop.ctx.secrets.open(stored?.secret ?? Buffer.alloc(0))).toBe(secret)
  const made = replies.find(reply => reply.code === 2000)?.data as { recovery_codes: string[] }
  const hashes = await shop.ctx.db.select().from(recoveryCodes).where(eq(recoveryCodes.userId, client.user.id))
  expect(hashes).toHaveLength(10)
  for (const plain of made.recovery_codes)
    expect(hashes.some(({ codeHash }) => codeHash.includes(plain.replace('-', '')))).toBe(false)
  // The code that confirmed the app logs in no more.
  const visitor = visitorFromAnywhere(shop)
  const ticket = await firstStep(visitor, client.user.username)
  expect((await visitor.post(STEP, { ticket, method: 'totp', code })).msg).toBe(WRONG)
  expect(await actionsOf(client.user.id)).toEqual(['user.add_second_factor'])
  expect(await subjectsTo(client.user.email)).toContain('A second factor was added to your account')
})

test('what was begun ends after 15 minutes, five wrong codes, and with the session', async () => {
  const client = await shop.customer()
  const begin = async () =>
    (await client.post<{ totp: { secret: string } }>(OWN, { method: 'totp', password })).data.totp
  expect((await client.post(CONFIRM, { code: '123456' })).code).toBe(409)
  const late = await begin()
  shop.advance(15 * MINUTE + 1000)
  expect((await client.post(CONFIRM, { code: codeOf(shop, late.secret) })).code).toBe(409)
  const tried = await begin()
  const code = wrongCodeOf(shop, tried.secret)
  for (let i = 0; i < 5; i += 1) expect((await client.post(CONFIRM, { code })).code).toBe(400)
  expect((await client.post(CONFIRM, { code: codeOf(shop, tried.secret) })).code).toBe(409)
  const open = await begin()
  const elsewhere = shop.visitor()
  await elsewhere.post('/api/auth/login', { username: client.user.username, password })
  expect((await elsewhere.post(CONFIRM, { code: codeOf(shop, open.secret) })).code).toBe(409)
  // Beginning again replaces it.
  const second = await begin()
  expect((await client.post(CONFIRM, { code: codeOf(shop, open.secret) })).code).toBe(400)
  expect((await client.post(CONFIRM, { code: codeOf(shop, second.secret) })).code).toBe(2000)
})

test('another app replaces the first, and keeps the recovery codes', async () => {
  const client = await shop.customer()
  const first = await addApp(shop, client, 'Old phone')
  const second = await addApp(shop, client, 'New phone')
  expect(second.codes).toEqual([])
  expect((await factorsOf(client)).factors.map(({ name }) => name)).toEqual(['New phone'])
  const visitor = visitorFromAnywhere(shop)
  const ticket = await firstStep(visitor, client.user.username)
  expect((await visitor.post(STEP, { ticket, method: 'totp', code: codeOf(shop, first.secret) })).msg).toBe(WRONG)
  expect((await visitor.post(STEP, { ticket, method: 'totp', code: codeOf(shop, second.secret) })).code).toBe(2000)
})

test('a passkey is added once, on one account, by its own page and challenge', async () => {
  const client = await shop.customer()
  const { passkey } = await addPasskey(shop, client)
  const other = await shop.customer()
  const begin = async () =>
    (await other.post<{ passkey: Parameters<typeof passkey.create>[0] }>(OWN, { method: 'passkey', password })).data
      .passkey
  expect((await other.post(CONFIRM, { attestation: passkey.create(await begin()) })).code).toBe(409)
  for (const wrong of [{ origin: 'http://evil.example.com' }, { rpId: 'example.com' }, { challenge: 'eA' }]) {
    const attestation = testPasskey(shop.ctx.config.publicUrl).create(await begin(), wrong)
    expect((await other.post(CONFIRM, { attestation })).msg).toBe('This passkey was not accepted')
    // The challenge is used up.
    expect((await other.post(CONFIRM, { attestation })).msg).toBe('This passkey was not accepted')
  }
  expect((await factorsOf(other)).factors).toEqual([])
  const again = await client.post<{ passkey: { excludeCredentials: { id: string }[] } }>(OWN, {
    method: 'passkey',
    password
  })
  expect(again.data.passkey.excludeCredentials.map(({ id }) => id)).toEqual([passkey.id])
  for (let at = 0; at < 9; at += 1) await addPasskey(shop, client, `Key ${at}`)
  expect((await client.post(OWN, { method: 'passkey', password })).code).toBe(409)
})

test('each change asks for the password or a second factor, and each factor counts once', async () => {
  const client = await shop.customer()
  const app = await addApp(shop, client)
  const { passkey, id } = await addPasskey(shop, client)
  expect((await client.post(OWN, { method: 'totp' })).data).toMatchObject({
    errors: { password: 'Please enter your password!' }
  })
  expect((await remove(client, id, {})).code).toBe(400)
  expect((await remove(client, id, { password: 'Wrong#2026' })).data).toMatchObject({
    errors: { password: 'The password is not correct' }
  })
  const rename = (second_factor: object, name: string) => client.put(OWN, { id, name, second_factor })
  const code = codeOf(shop, app.secret)
  expect((await rename({ method: 'totp', code }, 'Desk')).code).toBe(2000)
  expect((await rename({ method: 'totp', code }, 'Other')).data).toMatchObject({ errors: { code: WRONG } })
  const request = (await client.post<PasskeyRequest>(`${OWN}options`)).data
  const assertion = passkey.answer(request)
  expect((await rename({ method: 'passkey', assertion }, 'Lap')).code).toBe(2000)
  expect((await rename({ method: 'passkey', assertion }, 'Other')).code).toBe(400)
  expect((await rename({ method: 'recovery', code: app.codes[0] }, 'Laptop')).code).toBe(2000)
  expect((await rename({ method: 'recovery', code: app.codes[0] }, 'Other')).code).toBe(400)
  expect((await factorsOf(client)).factors.map(({ name }) => name)).toEqual(['Phone', 'Laptop'])
  // Other calls that ask for the password take one, too.
  shop.advance(MINUTE)
  const second_factor = { method: 'totp', code: codeOf(shop, app.secret) }
  const key = { name: 'script', scopes: ['read'] }
  expect((await client.post('/api/users/api_keys/', { ...key, second_factor })).code).toBe(2000)
  // An account without one cannot confirm by one.
  const plain = await shop.customer()
  expect((await plain.post('/api/users/api_keys/', { ...key, second_factor })).code).toBe(400)
  expect((await plain.post(`${OWN}options`)).code).toBe(409)
})

test('guesses of a session are limited, and the owner is told', async () => {
  const client = await shop.customer()
  const { secret, id } = await addApp(shop, client)
  const guess = { second_factor: { method: 'totp', code: wrongCodeOf(shop, secret) } }
  for (let at = 0; at < 20; at += 1) expect((await remove(client, id, guess)).code).toBe(400)
  const right = { second_factor: { method: 'totp', code: codeOf(shop, secret) } }
  expect((await remove(client, id, right)).code).toBe(429)
  expect((await remove(client, id)).code).toBe(429)
  expect((await factorsOf(client)).factors).toHaveLength(1)
})

test('with the last factor the recovery codes go; two removals at once leave nothing half', async () => {
  const client = await shop.customer()
  const { id, codes } = await addApp(shop, client)
  const { id: other } = await addPasskey(shop, client)
  expect((await remove(client, 999_999)).code).toBe(404)
  const gone = await Promise.all([remove(client, id), remove(client, other)])
  expect(gone.map(reply => reply.code)).toEqual([2000, 2000])
  expect(await factorsOf(client)).toMatchObject({ factors: [], recovery_codes_left: 0 })
  expect(
    (await visitorFromAnywhere(shop).post('/api/auth/login', { username: client.user.username, password })).code
  ).toBe(2000)
  expect(codes).toHaveLength(10)
  expect((await subjectsTo(client.user.email)).filter(subject => subject.includes('removed'))).toHaveLength(2)
  expect((await client.post(`${OWN}recovery_codes`, { password })).code).toBe(409)
})

test('new recovery codes end the former ones', async () => {
  const client = await shop.customer()
  const { codes } = await addApp(shop, client)
  const made = await client.post<{ recovery_codes: string[] }>(`${OWN}recovery_codes`, { password })
  expect(made.data.recovery_codes).toHaveLength(10)
  const visitor = visitorFromAnywhere(shop)
  const ticket = await firstStep(visitor, client.user.username)
  expect((await visitor.post(STEP, { ticket, method: 'recovery', code: codes[0] })).msg).toBe(WRONG)
  const code = made.data.recovery_codes[0]
  expect((await visitor.post(STEP, { ticket, method: 'recovery', code })).code).toBe(2000)
  expect(await subjectsTo(client.user.email)).toContain('Your account has new recovery codes')
})

test("an administrator who views the shop as a customer neither adds nor removes the customer's factors", async () => {
  const client = await shop.customer()
  const { id } = await addApp(shop, client)
  const boss = await shop.admin()
  await boss.post('/api/users/admin/switch-user', { user_id: client.user.id })
  expect((await remove(boss, id)).code).toBe(403)
  expect((await boss.post(OWN, { method: 'totp', password })).code).toBe(403)
  expect((await boss.post(`${OWN}recovery_codes`, { password })).code).toBe(403)
})

test('the data download lists factors without secrets, and a deleted account leaves none', async () => {
  const client = await shop.customer()
  const { secret, codes } = await addApp(shop, client)
  await addPasskey(shop, client)
  const file = await (await client.fetch('/api/users/u/data_export')).text()
  expect(JSON.parse(file)).toMatchObject({
    second_factors: { factors: [{ method: 'totp', name: 'Phone' }, { method: 'passkey' }], recovery_codes_left: 10 }
  })
  for (const plain of [secret, ...codes]) expect(file).not.toContain(plain)
  const boss = await shop.admin()
  expect((await boss.delete(`/api/users/u/${client.user.id}/`)).code).toBe(2000)
  expect(await shop.ctx.db.$count(secondFactors, eq(secondFactors.userId, client.user.id))).toBe(0)
  expect(await shop.ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, client.user.id))).toBe(0)
})

test('the list of users says how many factors each has', async () => {
  const [boss, client] = [await shop.admin(), await shop.customer()]
  await addApp(shop, client)
  await addPasskey(shop, client)
  const { data } = await boss.get<{ data: { id: number; second_factors: number }[] }>('/api/users/u/')
  const factors = new Map(data.data.map(user => [user.id, user.second_factors]))
  expect([factors.get(client.user.id), factors.get(boss.user.id)]).toEqual([2, 0])
})
