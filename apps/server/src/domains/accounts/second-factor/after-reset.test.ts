import { expect, test } from 'vitest'
import { eq } from '../../../infra/db/drizzle.ts'
import { hashToken } from '../../../infra/secrets.ts'
import { mailJobs } from '../../mail/index.ts'
import type { TestClient } from '../../../testing/client.ts'
import { startTestShop } from '../../../testing/shop.ts'
import { useStarted } from '../../../testing/use-started.ts'
import { accountRoutesWithPorts, mailedCode, visitorFromAnywhere } from '../accounts.fixture.ts'
import {
  addApp,
  addPasskey,
  codeOf,
  firstStep,
  loginByPasskey,
  password,
  STEP,
  stepByPasskey,
  wrongCodeOf
} from './second-factor.fixture.ts'
import { secondFactorTickets } from './tables.ts'

const shop = useStarted(() => startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs }))
const FRESH = 'Fresh#2026'
const NEEDS_PASSWORD = {
  code: 403,
  msg: 'Access to this account has changed. Please log in with your password, then with this passkey.'
}

const stranger = () => visitorFromAnywhere(shop)

/** Resets the password by mail, in this browser. */
async function reset(visitor: TestClient, email: string, fresh = FRESH): Promise<void> {
  const code = await mailedCode(shop, visitor, email, 'forgot')
  const { data: proof } = await visitor.post<object>('/api/users/forgot_password_verify', { email, ...code })
  expect((await visitor.post('/api/users/forgot_password', { email, password: fresh, ...proof })).code).toBe(2000)
}

test('after a reset by mail each passkey needs the password once, and then logs in alone again', async () => {
  const client = await shop.customer()
  const { username, email } = client.user
  const { secret } = await addApp(shop, client)
  const { passkey } = await addPasskey(shop, client)
  const { passkey: other } = await addPasskey(shop, client)
  expect((await loginByPasskey(stranger(), passkey)).code).toBe(2000)
  await reset(stranger(), email)
  const thief = stranger()
  expect(await loginByPasskey(thief, passkey)).toMatchObject(NEEDS_PASSWORD)
  expect((await thief.get('/api/users/u/user_info/')).code).toBe(401)

  // A right code of the app does not count for a passkey that is sent with it.
  const byApp = stranger()
  const request = await byApp.post<Parameters<typeof passkey.answer>[0]>(`${STEP}/options`, {
    ticket: await firstStep(byApp, username, FRESH)
  })
  const ticket = await firstStep(byApp, username, FRESH)
  const assertion = passkey.answer(request.data)
  const step = { ticket, method: 'totp', code: codeOf(shop, secret), assertion }
  expect((await byApp.post(STEP, step)).code).toBe(2000)
  expect(await loginByPasskey(thief, passkey)).toMatchObject(NEEDS_PASSWORD)

  // Nor does a first step with the chat account, which needed no password.
  const byChat = stranger()
  const chatTicket = await firstStep(byChat, username, FRESH)
  await shop.ctx.db
    .update(secondFactorTickets)
    .set({ method: 'discord' })
    .where(eq(secondFactorTickets.tokenHash, hashToken(chatTicket)))
  expect((await stepByPasskey(byChat, chatTicket, passkey)).code).toBe(2000)
  expect(await loginByPasskey(thief, passkey)).toMatchObject(NEEDS_PASSWORD)

  const owner = stranger()
  expect((await stepByPasskey(owner, await firstStep(owner, username, FRESH), passkey)).code).toBe(2000)
  expect(await loginByPasskey(stranger(), passkey)).toMatchObject({ code: 2000, data: { id: client.user.id } })
  expect(await loginByPasskey(stranger(), other)).toMatchObject(NEEDS_PASSWORD)
})

test('a passkey needs the password after an operator changed the access, and not after a change by the owner', async () => {
  const boss = await shop.admin()
  const U = '/api/users/u'
  type Mend = (client: TestClient & { user: { id: number } }) => Promise<{ code: number }>
  const mends: Record<string, Mend> = {
    'an operator sets a password': ({ user }) => boss.post(`${U}/${user.id}/change_password/`, { password: FRESH }),
    'an operator edits the password': ({ user }) => boss.put(`${U}/${user.id}/`, { password: FRESH }),
    'a ban and its end': async ({ user }) => {
      await boss.post(`${U}/${user.id}/baned_user/`)
      return boss.post(`${U}/${user.id}/unbaned_user/`)
    },
    'another role': ({ user }) => boss.put(`${U}/${user.id}/`, { is_superuser: true })
  }
  for (const [name, mend] of Object.entries(mends)) {
    const client = await shop.customer()
    const { passkey } = await addPasskey(shop, client)
    expect((await mend(client)).code, name).toBe(2000)
    expect(await loginByPasskey(stranger(), passkey), name).toMatchObject(NEEDS_PASSWORD)
  }
  const client = await shop.customer()
  const { passkey } = await addPasskey(shop, client)
  await client.post('/api/users/change_password', { old_password: password, new_password: FRESH })
  expect((await loginByPasskey(stranger(), passkey)).code).toBe(2000)
})

test('a reset by mail brings no new tries of a second factor', async () => {
  const client = await shop.customer()
  const { username, email } = client.user
  const { secret } = await addApp(shop, client)
  const thief = stranger()
  await reset(thief, email)
  expect([...thief.cookies.keys()]).not.toContain('netlet_device')
  const code = wrongCodeOf(shop, secret)
  for (let round = 0; round < 4; round += 1) {
    const ticket = await firstStep(thief, username, FRESH)
    for (let i = 0; i < 5; i += 1) expect((await thief.post(STEP, { ticket, method: 'totp', code })).code).toBe(400)
  }
  shop.advance(61_000)
  await reset(thief, email, 'Third#2026')
  const ticket = await firstStep(thief, username, 'Third#2026')
  expect(await thief.post(STEP, { ticket, method: 'totp', code: codeOf(shop, secret) })).toMatchObject({ code: 429 })

  // Without a factor the browser is known at once.
  const simple = await shop.customer()
  const owner = stranger()
  await reset(owner, simple.user.email)
  expect([...owner.cookies.keys()]).toContain('netlet_device')
})
