import { expect, test } from 'vitest'
import { requestToken } from './access-token.ts'

test.each([1e300, 367 * 24 * 3600, 0, -1])('a token that is said to live for %d s is none', async life => {
  const request = async () => Response.json({ access_token: 'shpat_x', expires_in: life })
  const client = { shopUrl: 'shop.example', clientId: 'key', clientSecret: 'secret', fetch: request }
  expect(await requestToken(client)).toMatchObject({ ok: false, reason: 'bad_reply' })
})
