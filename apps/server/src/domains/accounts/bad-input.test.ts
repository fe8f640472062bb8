import { routes } from '@netlet/contract'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { runs } from '../../../../../scripts/testing/tier.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts })
})
afterAll(() => shop.close())

const uuid = '00000000-0000-4000-8000-000000000000'
// Nearly right values get further than noise: past the schema, into the queries.
const value = fc.oneof(
  fc.constantFrom('anna@example.com', 'Anna1', 'Abcdef#1', '123456', uuid, '', null, 0, -1, 1e308, true, [], {}),
  fc.constantFrom('\0', 'a\0b', '\ud800', "'; drop table users; --", '%', '\\', 'x'.repeat(300)),
  fc.jsonValue({ maxDepth: 2 })
)
const names = [
  'username email email_code email_code_id password repassword invite_code discord_id captcha captcha_id type',
  'verify_id old_password new_password user_id id name scopes reward_points reward_points_change level_points_change is_active is_superuser event_id channel_id at'
].flatMap(line => line.split(' '))
const body = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 12 }) },
  { weight: 1, arbitrary: fc.jsonValue() }
)
const header = fc.constantFrom(undefined, 'netlet_session=x', 'netlet_session=%00; netlet_oauth=\u00ff', '=;;=')
const query = fc.constantFrom(
  '',
  '?limit=-1',
  '?limit=5&offset=999999999',
  '?search=%00',
  '?search=%',
  '?mode=x&code=%00'
)

test('nothing that is sent makes the shop fall over', { timeout: 120_000 }, async () => {
  const admin = await shop.admin()
  // A logout would end what the others are to be tried with.
  const calls = Object.values(routes.accounts).filter(call => call.path !== '/api/auth/logout')
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...calls),
      fc.boolean(),
      body,
      header,
      query,
      async (call, known, sent, cookie, q) => {
        const client = known ? admin : shop.visitor()
        const path = `${call.path.replace(':id', '999999')}${q}`
        const withBody = call.method === 'POST' || call.method === 'PUT'
        const headers = new Headers({ 'x-forwarded-for': 'nonsense' })
        if (withBody) headers.set('content-type', 'application/json')
        if (cookie && !known) headers.set('cookie', cookie)
        const init = { method: call.method, headers, body: withBody ? JSON.stringify(sent) : undefined }
        const reply = await client.fetch(path, init)
        expect(reply.status, `${call.method} ${path} ${await reply.text()}`).not.toBe(500)
      }
    ),
    runs(200, 10_000)
  )
})
