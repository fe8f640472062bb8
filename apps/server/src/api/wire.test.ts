import { createHmac, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../infra/db/drizzle.ts'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'

let shop: StockedShop
let admin: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  admin = await shop.admin()
})
afterAll(() => shop?.close())

/** Writes bytes to the shop's port and reads until it closes the connection or has answered. */
async function exchange(bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(shop.url)
  const socket = connect(Number(port), hostname)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const parts: Buffer[] = []
  const end = () => resolve(Buffer.concat(parts).toString('latin1'))
  socket.setTimeout(5000, () => {
    socket.destroy()
    reject(new Error(`no answer to ${JSON.stringify(String(bytes).slice(0, 100))}`))
  })
  socket.on('data', part => parts.push(part))
  socket.on('close', end)
  // It may close while we still write; what it said before that counts.
  socket.on('error', end)
  socket.end(bytes)
  return promise
}

describe('bytes that are no proper HTTP', () => {
  const json = 'Host: x\r\nContent-Type: application/json\r\n'

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['TLS on the plain port', Buffer.from('16030100a5010000a10303', 'hex')],
    ['a NUL in the path', 'GET /api/\0 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a NUL in a header', 'GET /api/auth/login HTTP/1.1\r\nHost: x\r\nCookie: a=\0\r\n\r\n'],
    ['two lengths', `POST /api/auth/login HTTP/1.1\r\n${json}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    [
      'a length and chunks',
      `POST /api/auth/login HTTP/1.1\r\n${json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    ],
    ['chunks that are none', `POST /api/auth/login HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`],
    ['too many headers', `GET / HTTP/1.1\r\nHost: x\r\n${'X-A: b\r\n'.repeat(20_000)}\r\n`],
    ['a header without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}`]
  ])('%s', async (_name, bytes) => {
    const [head = '', body = ''] = (await exchange(bytes)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(JSON.parse(body)).toMatchObject({ code: 400, msg: 'The request is invalid' })
  })

  test('a body that ends early keeps nobody waiting, and the shop goes on', async () => {
    await exchange(`POST /api/auth/login HTTP/1.1\r\n${json}Content-Length: 100\r\n\r\n{`)
    expect((await shop.visitor().get('/api/auth/captcha')).code).toBe(2000)
  })
})

/** Deeper than any stack: what walks it by recursion falls over. */
const deep = (levels: number) => `{"uri":"/api/x","json_input":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`

describe('deeply nested JSON', () => {
  test.each([101, 5000, 100_000])('%i levels', async levels => {
    for (const [client, path] of [
      [admin, `/api/servers/servers/${shop.serverId}/request_api/`],
      [admin, '/api/settings/config'],
      [shop.visitor(), '/api/auth/login']
    ] as const) {
      const reply = await client.post(path, deep(levels))
      // Without a session a body has at most 64 KiB.
      const status = client !== admin && levels > 30_000 ? 413 : 400
      expect(reply).toMatchObject({ status, code: status })
    }
  })
})

describe('signed webhooks with bodies that the platform never sends', () => {
  const bodies = ['', 'null', '5', '"text"', '[]', '{}', '{"a":"\\u0000","b":"\\ud800","\\u0000":1}', deep(20_000)]

  test.each(bodies.map(body => [body.slice(0, 40), body]))('%j', async (_shown, body) => {
    for (const [path, topic] of [
      ['/api/orders/pay_webhook', 'orders/paid'],
      ['/api/orders/product_webhook', 'products/update'],
      ['/api/orders/product_webhook', 'products/nothing']
    ] as const) {
      const headers = {
        'content-type': 'application/json',
        'x-shopify-topic': topic,
        'x-shopify-webhook-id': `${topic} ${body.length} ${body.slice(0, 5)}`,
        'x-shopify-hmac-sha256': createHmac('sha256', 'platform secret').update(body).digest('base64')
      }
      const reply = await shop.app.inject({ method: 'POST', url: path, headers, payload: body })
      expect(reply.statusCode, reply.body).not.toBe(500)
      expect(reply.json()).toHaveProperty('msg')
    }
  })

  test('an event id that is too long to be one is refused', async () => {
    const reply = await shop.app.inject({
      method: 'POST',
      url: '/api/orders/pay_webhook',
      headers: {
        'content-type': 'application/json',
        'x-shopify-topic': 'orders/paid',
        // Random, since what compresses well still fits the index.
        'x-shopify-webhook-id': randomBytes(6000).toString('base64'),
        'x-shopify-hmac-sha256': createHmac('sha256', 'platform secret').update('{}').digest('base64')
      },
      payload: '{}'
    })
    expect(reply.json()).toMatchObject({ code: 400 })
  })
})

test('the signed report of the chat bot counts once, however often it is sent at the same time', async () => {
  const settings = {
    discord_bot_token: 'bot token',
    discord_bot_points_per_message: 5,
    discord_bot_max_points_per_day: 100
  }
  expect((await admin.post('/api/settings/config', settings)).code).toBe(2000)
  await shop.ctx.db.execute(sql`update users set discord_id = '4242' where id = ${admin.user.id}`)
  const body = JSON.stringify({
    event_id: 'one',
    discord_id: '4242',
    channel_id: '1',
    at: shop.ctx.now().toISOString()
  })
  const headers = { 'x-signature': createHmac('sha256', 'bot token').update(body).digest('hex') }
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => shop.visitor().post<{ granted: number }>('/api/users/bot_webhook', body, headers))
  )
  expect(replies.map(reply => reply.code)).toEqual(Array.from({ length: 8 }, () => 2000))
  expect(replies.reduce((sum, reply) => sum + reply.data.granted, 0)).toBe(5)
})
