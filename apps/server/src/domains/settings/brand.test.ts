import type { Brand } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startStockedShop, type Buyer, type StockedShop } from '../../api/stocked-shop.fixture.ts'
import { command } from '../../infra/command.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { enqueueMail } from '../mail/index.ts'
import { renderRequest } from '../mail/render-mail.ts'
import { writeSettings } from './index.ts'

let shop: StockedShop
let owner: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  owner = await shop.admin()
})
afterAll(() => shop?.close())

const base64 = (content: string | Buffer) => Buffer.from(content).toString('base64')
const save = (picture: string) => owner.post<Brand>('/api/settings/logo', { picture })
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="url(#a)"/></svg>'
const PNG = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(32)])

test('a logo is served as what it is, may be kept, and can do nothing when it is opened', async () => {
  const { data } = await save(base64(SVG))
  expect(data.logo).toMatch(/^\/logo\?v=[\w-]{16}\.svg$/)
  expect((await shop.visitor().get<Brand>('/api/settings/brand')).data).toEqual(data)
  const reply = await fetch(shop.url + data.logo)
  expect(await reply.text()).toBe(SVG)
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'content-type': 'image/svg+xml',
    'content-security-policy': expect.stringContaining('sandbox') as string,
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
    'cross-origin-resource-policy': 'cross-origin'
  })
  expect((await save(base64(SVG))).data).toEqual(data)
  const png = (await save(base64(PNG))).data.logo
  expect((await fetch(shop.url + png)).headers.get('content-type')).toBe('image/png')
  expect((await save('')).data.logo).toBeNull()
  const none = await fetch(`${shop.url}/logo`, { redirect: 'manual' })
  expect(none.headers.get('location')).toBe('/icon.svg')
  const { data: log } = await owner.get<{ data: { action: string }[] }>('/api/settings/audit_log/?limit=10')
  expect(log.data.filter(({ action }) => action === 'settings.save_logo')).toHaveLength(3)
})

test.each([
  ['no picture', base64('hello'), 'Please choose a PNG'],
  ['a page', base64('<!doctype html><svg>'), 'Please choose a PNG'],
  ['many comments', base64('<!---->'.repeat(2000)), 'Please choose a PNG'],
  ['a script', base64('<svg xmlns="x"><script>alert(1)</script></svg>'), 'contains scripts'],
  ['a handler', base64('<svg xmlns="x" onload="alert(1)"></svg>'), 'contains scripts'],
  ['another file', base64('<svg xmlns="x"><image href="https://evil.example/a.png"/></svg>'), 'contains scripts'],
  ['too large', base64(Buffer.concat([PNG, Buffer.alloc(100_000)])), 'at most 100 kB'],
  ['no base64', 'a b', 'Please choose a PNG']
])('is refused as a logo: %s', async (_what, picture, sentence) => {
  const reply = await save(picture)
  expect(reply.code).toBe(400)
  expect(JSON.stringify(reply.data)).toContain(sentence)
})

test.each([
  ['shop_name', 'Shop "X" <a@b>', false],
  ['shop_name', '   ', false],
  ['shop_name', '代理之家', true],
  ['shop_accent', 'red', false],
  ['shop_accent', '#7C3AED', true],
  ['shop_time_zone', 'Europe/Nowhere', false],
  ['shop_time_zone', 'Europe/Berlin', true]
])('the setting %s may be %j: %j', async (name, value, taken) => {
  expect((await owner.post('/api/settings/config', { [name]: value })).code).toBe(taken ? 2000 : 400)
})

test('mails have the name, colour, dates and footer of the shop', async () => {
  await writeSettings(shop.ctx, {
    shop_name: 'Ada’s Proxies',
    shop_accent: '#7c3aed',
    shop_time_zone: 'Europe/Berlin',
    mail_footer: 'Ada Ltd\n1 Main Street',
    email_from: ''
  })
  await save(base64(PNG))
  const request = {
    to: 'a@example.com',
    key: 'changed:1:x',
    template: 'order-changed',
    data: {
      username: 'ann',
      order_id: 'NL-1',
      product_name: 'Plan',
      change: 'later',
      expires_at: '2026-07-01T10:00:00.000Z',
      message: 'A gift.\nEnjoy!'
    }
  } as const
  const { sent } = await renderRequest(shop.ctx, request, 'proxies')
  expect(sent.text).toContain('New expiry: 2026-07-01 12:00 CEST')
  expect(sent.text).toContain('Our message to you:\nA gift.\nEnjoy!')
  expect(sent.text).toMatch(/--\nAda’s Proxies, http\S+\nAda Ltd\n1 Main Street\n/)
  expect(sent.html).toMatch(/<img src="http\S+\/logo\?v=/)
  expect(sent.html).toContain('#7c3aed')
  expect(JSON.stringify(sent)).not.toContain('Netlet')
  // The next one is in no zone of another.
  await writeSettings(shop.ctx, { shop_time_zone: 'UTC' })
  await command(shop.ctx, SYSTEM, async unit => enqueueMail(unit, request))
  expect((await renderRequest(shop.ctx, request, 'proxies')).sent.text).toContain('2026-07-01 10:00 UTC')
})

test('receipts and second factors name the shop', async () => {
  const buyer = await shop.customer()
  const { id } = await shop.buy(buyer)
  const receipts = await buyer.get<{ shop: string }>(`/api/orders/order_list/${id}/receipts/`)
  expect(receipts.data.shop).toBe('Ada’s Proxies')
})
