import { TOKEN_PERMISSIONS, type Permission } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiKeys } from '../domains/accounts/tables.ts'
import { MINUTE } from '../infra/clock.ts'
import { describeCalls, type ApiCall } from './calls.ts'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'

let shop: StockedShop
let owner: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  owner = await shop.admin()
})
afterAll(() => shop?.close())

const { calls } = describeCalls()
/** They answer 401 to everyone, because nothing here is signed. */
const SIGNED = /webhook|_events$/
const tried = calls.filter(({ path, raw }) => !SIGNED.test(path) && raw !== 'text/event-stream')

async function token(permissions: readonly Permission[]): Promise<string> {
  // An account has at most 20.
  await shop.ctx.db.delete(apiKeys)
  const made = await owner.post<{ key: string }>('/api/users/api_tokens/', { name: 'all', permissions })
  expect(made.msg).toBe('success')
  return made.data.key
}

const reasons = new Set(['key_not_allowed', 'key_permission_missing', 'role_not_allowed', 'forbidden', 'unauthorized'])
async function isRefused(key: string, { method, path, body }: ApiCall): Promise<boolean> {
  shop.advance(MINUTE)
  const reply = await shop.app.inject({
    method,
    url: path.replace(':id', '999999').replace(':key', 'columns'),
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { payload: '{}' })
  })
  const reason = /"reason":"(\w+)"/.exec(reply.body)?.[1]
  return [401, 403].includes(reply.statusCode) && reason !== undefined && reasons.has(reason)
}

test('a token with every permission makes the calls that the document says, and no others', async () => {
  const key = await token(TOKEN_PERMISSIONS)
  const found: string[] = []
  for (const call of tried) {
    const may = call.access === 'public' || call.takesTokens
    if ((await isRefused(key, call)) === may) found.push(`${call.method} ${call.path}`)
  }
  expect(found).toEqual([])
})

test.each(TOKEN_PERMISSIONS)('a token with all permissions but %s makes none of its calls', async permission => {
  const key = await token(TOKEN_PERMISSIONS.filter(other => other !== permission))
  for (const call of tried.filter(one => one.access !== 'public' && one.permission === permission))
    expect(await isRefused(key, call), `${call.method} ${call.path}`).toBe(true)
})
