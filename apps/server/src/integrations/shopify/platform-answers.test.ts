import { expect, test } from 'vitest'
import { readChangedOrders } from './changed-orders.ts'
import { done } from './result.ts'
import type { Execute } from './transport.ts'
import { requestToken } from './access-token.ts'
import { htmlToText } from './shapes.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
const odd = (minute: number) => ({ id: `gid://shopify/Order/${minute}`, updatedAt: at(minute).toISOString() })

/** A platform whose pages have one order each, changed at these minutes. */
const pages =
  (minutes: number[]): Execute =>
  async (_document, { after }, schema) => {
    const n = Number(after ?? 0)
    const next = n + 1 < minutes.length ? String(n + 1) : null
    return done(
      schema.parse({
        orders: { nodes: [odd(minutes[n] ?? 0)], pageInfo: { hasNextPage: next !== null, endCursor: next } }
      })
    )
  }

const read = (minutes: number[], since: Date) =>
  readChangedOrders(
    pages(minutes),
    async () => {
      throw new Error('none is whole')
    },
    since,
    2
  )

test('a reading ends after its limit of pages and says where to continue', async () => {
  expect(await read([1, 2, 3], at(0))).toMatchObject({ ok: true, value: { until: at(2), more: true } })
  expect(await read([2, 3], at(2))).toMatchObject({ ok: true, value: { until: at(3), more: false } })
})

test('a reading continues beyond its limit if more orders changed at the same time', async () => {
  expect(await read([2, 2, 2, 2, 3, 4], at(2))).toMatchObject({ ok: true, value: { until: at(3), more: true } })
})

test.each([1e300, 367 * 24 * 3600, 0, -1])('a token with a lifetime of %d s is invalid', async life => {
  const request = async () => Response.json({ access_token: 'shpat_x', expires_in: life })
  const client = { shopUrl: 'shop.example', clientId: 'key', clientSecret: 'secret', fetch: request }
  expect(await requestToken(client)).toMatchObject({ ok: false, reason: 'bad_reply' })
})

test.each([
  ['<p>One</p><p>Two &amp; three</p>', 'One\nTwo & three'],
  ['<ul><li>a</li>\n<li>b</li></ul>', '• a\n• b'],
  ['Fast<br>and <b>bold</b>', 'Fast\nand bold'],
  ['<script>alert(1)</script><style>p{}</style>safe<!-- no -->', 'safe'],
  ['5 &lt; 6 &#8364; &#x20AC; &unknown;', '5 < 6 € € &unknown;'],
  ['1 < 2', '1 < 2'],
  ['&lt;b&gt;', '<b>'],
  ['<a href="https://shop.example.com">a link</a><img src="x" alt="y">', 'a link'],
  ['<h2>Title</h2><ol><li>a</li></ol>', 'Title\n• a'],
  ['a<br>\n<br>\n<br>b', 'a\n\nb'],
  ['', '']
])('%j reads %j', (html, text) => {
  expect(htmlToText(html)).toBe(text)
})
