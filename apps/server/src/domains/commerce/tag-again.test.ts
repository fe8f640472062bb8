import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { tagOrder } from './platform.ts'

let shop: TestShop
let answer: { status: number; body: string }
const platform = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body))
})

beforeAll(async () => {
  shop = await startTestShop({ routes: () => {} })
  platform.listen(0, '127.0.0.1')
  await once(platform, 'listening')
  await writeSettings(shop.ctx, {
    shopify_shop_url: `http://127.0.0.1:${(platform.address() as AddressInfo).port}`,
    shopify_app_key: 'token'
  })
})
afterAll(async () => {
  await shop?.close()
  platform.close()
})

const tag = () => tagOrder(shop.ctx, { platformOrderId: '7', tags: ['delivered'] })
const data = (userErrors: { field: string[]; message: string }[]) =>
  JSON.stringify({ data: { tagsAdd: { userErrors } } })

test('a tag is tried again unless the platform refuses the tag itself', async () => {
  for (const [status, body] of [
    [200, JSON.stringify({ errors: [{ message: 'Timeout' }] })],
    [200, data([]).slice(0, 12)],
    [200, JSON.stringify({ errors: [{ message: 'no', extensions: { code: 'ACCESS_DENIED' } }] })],
    [401, '{}'],
    [500, '{}']
  ] as const) {
    answer = { status, body }
    await expect(tag(), body).rejects.toThrow()
  }
  answer = { status: 200, body: data([{ field: ['tags'], message: 'Tag is too long' }]) }
  await tag()
  answer = { status: 200, body: data([]) }
  await tag()
})
