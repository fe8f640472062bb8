import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eq, sql } from '../../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { DAY, HOUR } from '../../../infra/clock.ts'
import { migrationStatements } from '../../../testing/migrations.ts'
import { startTestShop } from '../../../testing/shop.ts'
import { useStarted } from '../../../testing/use-started.ts'
import { mailJobs } from '../../mail/index.ts'
import { readSome, writeSettings } from '../../settings/index.ts'
import { accountRoutesWithPorts, visitorFromAnywhere } from '../accounts.fixture.ts'
import { users } from '../tables.ts'
import { addApp, addPasskey, codeOf, firstStep, OWN, password, STEP } from './second-factor.fixture.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs }))
const LOGIN = '/api/auth/login'
const SESSION = '/api/auth/session/'
const USERS = '/api/users/u/'
const REQUIRED = 'Please turn on two-factor authentication first'

const require = (operators_need_second_factor: boolean) => writeSettings(shop.ctx, { operators_need_second_factor })

async function operator() {
  const { user } = await shop.admin()
  const client = visitorFromAnywhere(shop)
  const reply = await client.post(LOGIN, { username: user.username, password })
  return { client, user, reply }
}

test('an operator works for a week after the log-in, then reaches only the calls that add a factor', async () => {
  await require(true)
  const { client, reply } = await operator()
  const due = new Date(shop.ctx.now().getTime() + 7 * DAY)
  const { second_factor_due: told } = reply.data as { second_factor_due: string }
  expect(Math.abs(new Date(told).getTime() - due.getTime())).toBeLessThan(HOUR)
  shop.advance(6 * DAY)
  expect((await client.get(USERS)).code).toBe(2000)
  shop.advance(DAY + HOUR)
  for (const path of [USERS, '/api/users/sessions/', '/api/users/invite_code', '/api/users/u/data_export'])
    expect(await client.get(path), path).toMatchObject({ code: 403, msg: REQUIRED })
  const changed = { old_password: password, new_password: 'Other#2026' }
  expect((await client.post('/api/users/change_password', changed)).msg).toBe(REQUIRED)
  expect(await client.get(SESSION)).toMatchObject({ data: { must_add_second_factor: true } })
  // The way to add one is open.
  expect(await client.get(OWN)).toMatchObject({ code: 2000, data: { required: true } })
  await addApp(shop, client)
  expect(await client.get(SESSION)).toMatchObject({ data: { must_add_second_factor: false, second_factor_due: null } })
  expect((await client.get(USERS)).code).toBe(2000)
  expect((await client.get('/api/auth/logout')).code).toBe(2000)
})

test('a session from before the setting gets its week, and customers are never asked', async () => {
  await require(false)
  const { client, user } = await operator()
  const customer = await shop.customer()
  shop.advance(20 * DAY)
  expect((await client.get(USERS)).code).toBe(2000)
  await require(true)
  shop.advance(2 * HOUR)
  expect((await client.get(USERS)).code).toBe(2000)
  shop.advance(8 * DAY)
  expect((await client.get(USERS)).msg).toBe(REQUIRED)
  expect((await customer.get('/api/users/sessions/')).code).toBe(2000)
  // Without the requirement the console is open again, and the next week is a whole one.
  await require(false)
  expect((await client.get(USERS)).code).toBe(2000)
  shop.advance(2 * HOUR)
  await client.get(USERS)
  const [row] = await shop.ctx.db.select().from(users).where(eq(users.id, user.id))
  expect(row?.secondFactorDueAt).toBeNull()
})

test("nor does an operator who is past the week go on in a customer's name", async () => {
  await require(true)
  const { client } = await operator()
  const customer = await shop.customer()
  expect((await client.post('/api/users/admin/switch-user', { user_id: customer.user.id })).code).toBe(2000)
  expect((await client.get('/api/users/sessions/')).code).toBe(2000)
  shop.advance(7 * DAY + HOUR)
  expect((await client.get('/api/users/sessions/')).code).toBe(401)
})

test('the last factor of an operator stays while one is required, also if two are removed at once', async () => {
  await require(true)
  const { client } = await operator()
  const { id } = await addApp(shop, client)
  const { id: other } = await addPasskey(shop, client)
  const remove = (which: number) => client.delete(OWN, {}, { id: which, password })
  const replies = await Promise.all([remove(id), remove(other)])
  expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  expect(replies.find(reply => reply.code === 409)?.msg).toMatch(/before you remove the last/)
  await require(false)
  const left = replies[0]?.code === 2000 ? other : id
  expect((await remove(left)).code).toBe(2000)
})

test("an owner resets another's factors: sessions end, the mail says so, and the password logs in again", async () => {
  await require(true)
  const { client, user } = await operator()
  const { secret } = await addApp(shop, client)
  const owner = await shop.admin()
  const reset = (id: number) => owner.post(`${USERS}${id}/reset_second_factor/`)
  expect((await reset(owner.user.id)).code).toBe(409)
  expect((await reset(999_999)).code).toBe(404)
  const visitor = visitorFromAnywhere(shop)
  const ticket = await firstStep(visitor, user.username)
  shop.advance(8 * DAY)
  const waiting = await firstStep(visitor, user.username)
  expect((await reset(user.id)).code).toBe(2000)
  expect((await reset(user.id)).code).toBe(409)
  expect((await client.get(SESSION)).data).toBeNull()
  for (const one of [ticket, waiting])
    expect((await visitor.post(STEP, { ticket: one, method: 'totp', code: codeOf(shop, secret) })).code).toBe(401)
  await shop.drain()
  const subjects = shop.outbox.mails.filter(mail => mail.to === user.email).map(mail => mail.subject)
  expect(subjects).toContain('The second factors of your account were removed')
  // The week is over, so the next log-in only adds one.
  expect(await visitor.post(LOGIN, { username: user.username, password })).toMatchObject({
    code: 2000,
    data: { must_add_second_factor: true }
  })
  expect((await visitor.get(USERS)).msg).toBe(REQUIRED)
})

test('the migration asks no operator of a shop that runs, and asks those of a new one', async () => {
  const { db } = shop.ctx
  const statement =
    migrationStatements('_second_factors.sql').find(text => text.includes('INSERT INTO "settings"')) ?? ''
  const migrated = async () => {
    await db.execute(sql.raw(statement))
    return (await readSome(db, ['operators_need_second_factor'])).operators_need_second_factor
  }
  await shop.admin()
  await require(true)
  expect(await migrated()).toBe(true)
  await db.execute(sql`delete from settings where key = 'operators_need_second_factor'`)
  await db.update(users).set({ isSuperuser: false })
  expect(await migrated()).toBe(true)
  await shop.admin()
  expect(await migrated()).toBe(false)
})

test('the command line resets the last owner', { timeout: 120_000 }, async () => {
  await require(true)
  const { client, user } = await operator()
  await addPasskey(shop, client)
  const program = fileURLToPath(new URL('../../../reset-second-factor.ts', import.meta.url))
  const { databaseUrl, appSecret, publicUrl } = shop.ctx.config
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    APP_SECRET: appSecret,
    PUBLIC_URL: publicUrl.replace('http:', 'https:')
  }
  const run = (...name: string[]) =>
    promisify(execFile)(process.execPath, [program, ...name], { env: { ...env, LOG_LEVEL: 'silent' } })
  await expect(run('nobody99')).rejects.toMatchObject({ code: 1, stderr: 'This user does not exist\n' })
  expect((await run(user.email.toUpperCase())).stdout).toMatch(/no longer has a second factor/)
  expect((await visitorFromAnywhere(shop).post(LOGIN, { username: user.username, password })).code).toBe(2000)
})
