import { eq } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { startTestShop, TEST_PASSWORD } from '../../testing/shop.ts'
import { useStarted } from '../../testing/use-started.ts'
import { mailJobs } from '../mail/index.ts'
import { accountRoutesWithPorts, mailedCode, signUpForm, visitorFromAnywhere } from './accounts.fixture.ts'
import { hashPassword } from './passwords.ts'
import { users } from './tables.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs }))

const LOGIN = '/api/auth/login'
const COMMON = 'Password@123'
const GOOD = 'Xk9$mQ2v-Tango'

const refused = (field: string, reason: string) => ({
  code: 400,
  data: { reason, errors: { [field]: expect.any(String) } }
})
const isCommon = (field = 'password') => refused(field, 'password_is_common')
const hasName = (field = 'password') => refused(field, 'password_has_name')

test('a sign-up takes no common password and none with a name, and the code stays usable', async () => {
  const visitor = visitorFromAnywhere(shop)
  const email = 'bluebird+shop@example.com'
  const code = await mailedCode(shop, visitor, email, 'register')
  const signUp = (password: string) =>
    visitor.post('/api/users/u/', signUpForm('Robin77', email, code, { password, repassword: password }))
  expect(await signUp(COMMON)).toMatchObject(isCommon())
  expect(await signUp('Xk9$-BlueBird7')).toMatchObject(hasName())
  expect(await signUp('Xk9$-robin77-Q')).toMatchObject(hasName())
  expect((await signUp(GOOD)).code).toBe(2000)
})

test('nor does the form for a forgotten password, whose proof stays usable', async () => {
  const { email, username } = (await shop.customer()).user
  const visitor = visitorFromAnywhere(shop)
  const code = await mailedCode(shop, visitor, email, 'forgot')
  const proof = await visitor.post<{ verify_id: string }>('/api/users/forgot_password_verify', { email, ...code })
  const reset = (password: string) =>
    visitor.post('/api/users/forgot_password', { email, password, verify_id: proof.data.verify_id })
  expect(await reset(COMMON)).toMatchObject(isCommon())
  expect(await reset(`Xk9$-${username}`)).toMatchObject(hasName())
  expect((await reset(GOOD)).code).toBe(2000)
})

test('nor does a change of the own password, nor an operator who sets one', async () => {
  const client = await shop.customer()
  const { id, username } = client.user
  const change = (new_password: string) =>
    client.post('/api/users/change_password', { old_password: TEST_PASSWORD, new_password })
  expect(await change(COMMON)).toMatchObject(isCommon('new_password'))
  expect(await change(`Xk9$-${username}`)).toMatchObject(hasName('new_password'))
  const boss = await shop.admin()
  const set = (password: string) => boss.post(`/api/users/u/${id}/change_password/`, { password })
  const edit = (form: object) => boss.put(`/api/users/u/${id}/`, form)
  expect(await set(COMMON)).toMatchObject(isCommon())
  expect(await set(`Xk9$-${username}`)).toMatchObject(hasName())
  expect(await edit({ password: COMMON })).toMatchObject(isCommon())
  // The name that the same form gives counts.
  expect(await edit({ username: 'Falcon12', password: 'Xk9$-falcon12' })).toMatchObject(hasName())
  const login = { username, password: TEST_PASSWORD }
  expect((await visitorFromAnywhere(shop).post(LOGIN, login)).code).toBe(2000)
  expect((await change(GOOD)).code).toBe(2000)
})

test('a password from before the rule still logs in', async () => {
  const { id, username } = (await shop.customer()).user
  await shop.ctx.db
    .update(users)
    .set({ passwordHash: await hashPassword(COMMON) })
    .where(eq(users.id, id))
  expect((await visitorFromAnywhere(shop).post(LOGIN, { username, password: COMMON })).code).toBe(2000)
})
