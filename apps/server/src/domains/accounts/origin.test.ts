import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts })
})
afterAll(() => shop.close())

const change = { old_password: TEST_PASSWORD, new_password: TEST_PASSWORD }
const REFUSED = { status: 403, code: 403, msg: 'This request did not come from the shop itself' }

test.each([
  ['our public address', () => ({ origin: 'http://shop.example.com' })],
  ['the host that the browser addressed', (url: string) => ({ origin: url })],
  ['a program, which names none', () => ({})]
])('a change is taken from %s', async (_name, headers) => {
  const client = await shop.customer()
  expect((await client.post('/api/users/change_password', change, headers(shop.url))).code).toBe(2000)
})

test.each(['https://evil.example.com', 'http://shop.example.com.evil.example', 'null', 'not an origin'])(
  'a change from %s is refused',
  async origin => {
    const client = await shop.customer()
    expect(await client.post('/api/users/change_password', change, { origin })).toMatchObject(REFUSED)
  }
)

test("another site's page cannot even log a user out, nor read", async () => {
  const client = await shop.customer()
  const headers = { 'sec-fetch-site': 'cross-site' }
  expect(await client.get('/api/auth/logout', headers)).toMatchObject(REFUSED)
  expect(await client.get('/api/auth/login', headers)).toMatchObject(REFUSED)
  expect((await client.get('/api/auth/login', { 'sec-fetch-site': 'same-origin' })).code).toBe(2000)
})

test('the chat platform may send the browser back', async () => {
  const reply = await shop.visitor().fetch('/api/auth/discord/redirect?error=access_denied', {
    headers: { 'sec-fetch-site': 'cross-site' }
  })
  expect(reply.status).toBe(302)
  expect(reply.headers.get('location')).toBe('/login?discord=failed')
})
