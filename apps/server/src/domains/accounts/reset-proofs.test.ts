import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, TEST_PASSWORD, type TestShop, type TestUser } from '../../testing/shop.ts'
import { mailJobs } from '../mail/index.ts'
import { rewardsQueues } from '../rewards/queues.ts'
import { accountRoutesWithPorts, mailedCode, visitorFromAnywhere } from './accounts.fixture.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts, jobs: mailJobs, queues: rewardsQueues })
})
afterAll(() => shop.close())

const VERIFY = '/api/users/forgot_password_verify'
const FORGOT = '/api/users/forgot_password'
const LOGIN = '/api/auth/login'
const CHANGE = '/api/users/change_password'
const EXPIRED = { code: 400, msg: 'The verification has expired. Please request a new code.' }
const NEW = 'Owner#2026'

async function prove(client: TestClient, email: string): Promise<{ verify_id: string }> {
  const code = await mailedCode(shop, client, email, 'forgot')
  const proof = await client.post<{ verify_id: string }>(VERIFY, { email, ...code })
  if (proof.code !== 2000) throw new Error(`no proof: ${proof.msg}`)
  return proof.data
}

type Owner = TestClient & { user: TestUser }
type Boss = TestClient

const endings: [string, (owner: Owner, boss: Boss) => Promise<{ code: number }>][] = [
  ['its owner changed the password', owner => owner.post(CHANGE, { old_password: TEST_PASSWORD, new_password: NEW })],
  [
    'its owner reset the password by mail',
    async ({ user: { email } }) => {
      const home = visitorFromAnywhere(shop)
      return home.post(FORGOT, { email, password: NEW, ...(await prove(home, email)) })
    }
  ],
  [
    'an administrator set a password',
    ({ user }, boss) => boss.post(`/api/users/u/${user.id}/change_password/`, { password: NEW })
  ],
  ['an administrator promoted it', ({ user }, boss) => boss.put(`/api/users/u/${user.id}/`, { is_superuser: true })],
  [
    'a ban, and its end',
    async ({ user }, boss) => {
      const ban = await boss.post(`/api/users/u/${user.id}/baned_user/`)
      return ban.code === 2000 ? boss.post(`/api/users/u/${user.id}/unbaned_user/`) : ban
    }
  ]
]

test.each(endings)(
  'neither a kept proof nor a mailed code resets the password of an account after %s',
  async (_, end) => {
    const owner = await shop.customer()
    const { email, username } = owner.user
    const [proven, mailed] = [visitorFromAnywhere(shop), visitorFromAnywhere(shop)]
    const proof = await prove(proven, email)
    const code = await mailedCode(shop, mailed, email, 'forgot')
    expect((await end(owner, await shop.admin())).code).toBe(2000)
    expect(await proven.post(FORGOT, { email, password: 'Thief#2026', ...proof })).toMatchObject(EXPIRED)
    expect((await mailed.post(VERIFY, { email, ...code })).code).toBe(400)
    expect((await proven.post(LOGIN, { username, password: 'Thief#2026' })).code).toBe(401)
    // Whoever reads the mails now gets in as ever.
    const home = visitorFromAnywhere(shop)
    expect((await home.post(FORGOT, { email, password: 'Third#2026', ...(await prove(home, email)) })).code).toBe(2000)
    expect((await home.post(LOGIN, { username, password: 'Third#2026' })).code).toBe(2000)
  }
)

test('of two proofs that are used at once, one sets the password', async () => {
  const { email, username } = (await shop.customer()).user
  const clients = [visitorFromAnywhere(shop), visitorFromAnywhere(shop), visitorFromAnywhere(shop)]
  const proofs: object[] = []
  for (const client of clients) proofs.push(await prove(client, email))
  const password = (n: number) => `Winner#${n}aa`
  const replies = await Promise.all(
    clients.map((client, n) => client.post(FORGOT, { email, password: password(n), ...proofs[n] }))
  )
  expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([400, 400, 2000])
  const winner = replies.findIndex(reply => reply.code === 2000)
  expect((await visitorFromAnywhere(shop).post(LOGIN, { username, password: password(winner) })).code).toBe(2000)
})

test('a proof for an address does not reset the password of whoever has that address next', async () => {
  const before = await shop.customer()
  const { email } = before.user
  const boss = await shop.admin()
  const thief = visitorFromAnywhere(shop)
  const proof = await prove(thief, email)
  expect((await boss.put(`/api/users/u/${before.user.id}/`, { email: `moved.${email}` })).code).toBe(2000)
  await shop.customer({ email, username: 'nextone' })
  expect(await thief.post(FORGOT, { email, password: 'Thief#2026', ...proof })).toMatchObject(EXPIRED)
})

test('a stolen password keeps its owner from a reset by mail for a few codes only', async () => {
  const thief = await shop.customer()
  const { email, username } = thief.user
  const passwords = [TEST_PASSWORD, 'Thief#2026a', 'Thief#2026b', 'Thief#2026c', 'Thief#2026d']
  const change = (n: number) => thief.post(CHANGE, { old_password: passwords[n], new_password: passwords[n + 1] })
  for (const n of [0, 1, 2]) expect((await change(n)).code).toBe(2000)
  await shop.outbox.waitFor(email, 3)
  const owner = visitorFromAnywhere(shop)
  const proof = await prove(owner, email)
  expect(await change(3)).toMatchObject({ code: 429 })
  expect((await owner.post(FORGOT, { email, password: NEW, ...proof })).code).toBe(2000)
  expect((await owner.post(LOGIN, { username, password: NEW })).code).toBe(2000)
  // What the thief did is no longer counted.
  expect((await owner.post(CHANGE, { old_password: NEW, new_password: 'Fresh#2026' })).code).toBe(2000)
})
