import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { settingsRoutes, writeSettings } from './index.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => settingsRoutes(mount, ctx, { onPlatformChange: async () => {} })
  })
})
afterAll(() => shop?.close())

const get = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${shop.url}/geofeed.csv`, { method, headers, cache: 'no-store' })

test('caches get the geofeed once: entity tag, time, 304 and HEAD', async () => {
  const empty = await get()
  expect([empty.status, await empty.text(), empty.headers.get('last-modified')]).toEqual([200, '', null])
  await writeSettings(shop.ctx, { geofeed: '192.0.2.0/24,US,US-NY,New York,\n2001:db8::/32,GB,,,' })
  const first = await get()
  const etag = first.headers.get('etag') ?? ''
  const modified = first.headers.get('last-modified') ?? ''
  expect(await first.text()).toBe('192.0.2.0/24,US,US-NY,New York,\n2001:db8::/32,GB,,,\n')
  expect(first.headers.get('cache-control')).toBe('public, max-age=300')
  expect(first.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  expect(etag).not.toBe(empty.headers.get('etag'))

  const head = await get({}, 'HEAD')
  expect([head.status, head.headers.get('etag'), head.headers.get('last-modified')]).toEqual([200, etag, modified])
  expect(await head.text()).toBe('')

  const known: [Record<string, string>, number][] = [
    [{ 'if-none-match': etag }, 304],
    [{ 'if-none-match': `"other", W/${etag}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"other"' }, 200],
    [{ 'if-modified-since': modified }, 304],
    [{ 'if-modified-since': new Date(Date.parse(modified) - 1000).toUTCString() }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
    // The tag decides if both are given.
    [{ 'if-none-match': '"other"', 'if-modified-since': modified }, 200]
  ]
  for (const [headers, status] of known) expect([headers, (await get(headers)).status]).toEqual([headers, status])
  const unchanged = await get({ 'if-none-match': etag }, 'HEAD')
  expect([unchanged.status, unchanged.headers.get('etag')]).toEqual([304, etag])

  await writeSettings(shop.ctx, { geofeed: '192.0.2.0/24,CA,,,' })
  expect((await get({ 'if-none-match': etag })).status).toBe(200)
})
