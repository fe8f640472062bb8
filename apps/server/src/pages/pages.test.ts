import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pagePaths } from '@netlet/contract/pages'
import { sql } from '../infra/db/drizzle.ts'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Settings } from '@netlet/contract'
import { DAY } from '../infra/clock.ts'
import { writeSettings } from '../domains/settings/index.ts'
import { products } from '../domains/catalog/tables.ts'
import { createApp } from '../infra/http/app.ts'
import { serveWeb } from '../infra/http/web.ts'
import { startStockedShop, type StockedShop } from '../api/stocked-shop.fixture.ts'
import { pageAbout, searchEngineRoutes, wellKnownRoutes } from './index.ts'

const BUILT = `<!doctype html><html><head><meta charset="utf-8" />
    <meta name="description" content="built" />
    <title>Built</title><link rel="icon" href="/icon.svg" type="image/svg+xml"></head><body>
    <span class="brand"><img src="/icon.svg" alt="" />Netlet</span><noscript>Netlet needs JavaScript.</noscript></body></html>`
let shop: StockedShop
let app: FastifyInstance
let folder: string
let base: string
let productId: number

beforeAll(async () => {
  shop = await startStockedShop()
  folder = await mkdtemp(join(tmpdir(), 'netlet-pages-'))
  await writeFile(join(folder, 'index.html'), BUILT)
  await copyFile(fileURLToPath(new URL('../../../web/public/share.png', import.meta.url)), join(folder, 'share.png'))
  app = await createApp({ log: pino({ level: 'silent' }), trustProxy: false })
  searchEngineRoutes(app, shop.ctx)
  wellKnownRoutes(app, shop.ctx)
  await serveWeb(app, { demo: false, secureCookies: false }, { about: pageAbout(shop.ctx), folder })
  base = shop.ctx.config.publicUrl.replace(/\/$/, '')
  const [product] = await shop.ctx.db.select({ id: products.id }).from(products).limit(1)
  productId = product?.id ?? 0
})
afterAll(async () => {
  await app?.close()
  await shop?.close()
  await rm(folder, { recursive: true, force: true })
})

const open = async (url: string) => {
  const { statusCode, body } = await app.inject({ url })
  return {
    status: statusCode,
    title: /<title>(.*?)<\/title>/.exec(body)?.[1],
    canonical: /<link rel="canonical" href="(.*?)">/.exec(body)?.[1],
    indexed: !body.includes('content="noindex"'),
    body
  }
}

test.each([
  ['/', 'Static proxies by the IP or block, leased monthly · Netlet', '/'],
  ['/?utm=1', 'Static proxies by the IP or block, leased monthly · Netlet', '/'],
  ['/product', 'Products · Netlet', '/product'],
  ['/product/', 'Products · Netlet', '/product'],
  ['/product?parId=3', 'Products · Netlet', '/product'],
  ['/support', 'Support · Netlet', '/support'],
  ['/STATUS', 'Status · Netlet', '/status'],
  ['/Rewards/', 'Rewards · Netlet', '/rewards'],
  ['/createaccount', 'Create account · Netlet', '/createAccount'],
  ['/status?incident=7', 'Status · Netlet', '/status'],
  ['/policy?id=1', 'Privacy Policy · Netlet', '/policy?id=1'],
  ['/policy?id=2', 'Refund Policy · Netlet', '/policy?id=2'],
  ['/policy?id=other', 'Terms of Use · Netlet', '/policy?id=3']
])('%s says what it is about, and what its one address is', async (url, title, canonical) => {
  const page = await open(url)
  expect(page).toMatchObject({ status: 200, title, canonical: base + canonical, indexed: true })
  expect(page.body).toContain('<meta property="og:image" content="')
  expect(page.body.match(/<meta name="description"/g)).toHaveLength(1)
})

test('the built page leads to the address of the first one', async () => {
  for (const [url, location] of [
    ['/index.html', '/'],
    ['/%69ndex.html', '/'],
    ['/index.html?utm=1', '/?utm=1']
  ]) {
    const { statusCode, headers } = await app.inject({ url: url ?? '' })
    expect([statusCode, headers.location]).toEqual([301, location])
  }
})

test.each(['/nothing', '/dashboard/nothing', '/dashboard/index/orders/a/b', '/..%2f..%2fetc/passwd', '/x?id=1'])(
  '%s is the app with a 404, since nothing is there',
  async url => expect(await open(url)).toMatchObject({ status: 404, indexed: false, canonical: undefined })
)

test('every screen of the app is there, and search engines leave the dashboards alone', async () => {
  for (const pattern of Object.values(pagePaths)) {
    const paths = [pattern.replaceAll(/:\w+\??/g, '7'), pattern.replace(/\/:\w+\?$/, '')]
    for (const path of paths.filter(one => !/\/:/.test(one))) {
      const page = await open(path)
      expect([path, page.status]).toEqual([path, 200])
      if (path.startsWith('/dashboard')) expect([path, page.indexed]).toEqual([path, false])
    }
  }
  expect(await open('/dashboard')).toMatchObject({ status: 200, indexed: false })
})

test('a product on sale is described for search engines, whatever its texts hold', async () => {
  const { db } = shop.ctx
  await db
    .update(products)
    .set({ name: 'A "quoted" </title><script>x()</script> & $& plan', description: `${'word '.repeat(60)}</script>` })
    .where(sql`${products.id} = ${productId}`)
  const page = await open(`/product?id=${productId}`)
  expect(page).toMatchObject({ status: 200, indexed: true, canonical: `${base}/product?id=${productId}` })
  expect(page.title).toBe(
    'A &quot;quoted&quot; &lt;/title&gt;&lt;script&gt;x()&lt;/script&gt; &amp; $&amp; plan · Netlet'
  )
  const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(page.body) ?? []
  const data = JSON.parse(json) as { name: string; description: string; offers: Record<string, unknown> }
  expect(data).toMatchObject({ '@type': 'Product', name: 'A "quoted" </title><script>x()</script> & $& plan' })
  expect(data.description.length).toBeLessThanOrEqual(160)
  expect(data.offers).toMatchObject({ priceCurrency: 'USD', lowPrice: expect.stringMatching(/^\d+\.\d\d$/) })
  expect(page.body.match(/<script/g)).toHaveLength(1)
})

test.each(['0', '-1', '1e9', 'abc', '99999999', '9'.repeat(30), ''])('a product id of %j is a 404', async id =>
  expect(await open(`/product?id=${id}`)).toMatchObject({ status: 404, indexed: false })
)

test('the sitemap has the public pages and the products on sale', async () => {
  const { statusCode, headers, body } = await app.inject({ url: '/sitemap.xml' })
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/xml; charset=utf-8'])
  const found = [...body.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, loc]) => loc)
  expect(found).toContain(`${base}/`)
  expect(found).toContain(`${base}/product?id=${productId}`)
  for (const loc of found) expect([loc, (await open(String(loc).slice(base.length))).status]).toEqual([loc, 200])
  await shop.ctx.db.update(products).set({ active: false })
  expect((await app.inject({ url: '/sitemap.xml' })).body).not.toContain('/product?id=')
  expect(await open(`/product?id=${productId}`)).toMatchObject({ status: 404 })
})

test('an unlisted product has a page, which search engines are asked to leave out', async () => {
  await shop.ctx.db.update(products).set({ active: true, unlisted: true })
  expect((await app.inject({ url: '/sitemap.xml' })).body).not.toContain('/product?id=')
  expect(await open(`/product?id=${productId}`)).toMatchObject({ status: 200, indexed: false })
})

test('search engines are led to the sitemap, and away from calls and dashboards', async () => {
  const { statusCode, headers, body } = await app.inject({ url: '/robots.txt' })
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(body.split('\n').filter(Boolean)).toEqual([
    'User-agent: *',
    'Disallow: /api/',
    'Disallow: /dashboard',
    `Sitemap: ${base}/sitemap.xml`
  ])
})

test('researchers find the contact that the shop names, and password managers the page', async () => {
  const read = () => app.inject({ url: '/.well-known/security.txt' })
  expect((await read()).statusCode).toBe(404)
  await writeSettings(shop.ctx, { security_contact: 'security@example.com' })
  const { statusCode, headers, body } = await read()
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
  const lines = Object.fromEntries(body.split('\n').map(line => line.split(': ')))
  expect(lines).toMatchObject({
    Contact: 'mailto:security@example.com',
    'Preferred-Languages': 'en, zh',
    Canonical: `${base}/.well-known/security.txt`
  })
  const left = Date.parse(lines['Expires'] ?? '') - shop.ctx.now().getTime()
  expect([left > 30 * DAY, left < 365 * DAY]).toEqual([true, true])
  await writeSettings(shop.ctx, { security_contact: 'https://example.com/report' })
  expect((await read()).body).toContain('Contact: https://example.com/report\n')
  const changed = await app.inject({ url: '/.well-known/change-password' })
  expect([changed.statusCode, changed.headers.location]).toEqual([302, `${base}/dashboard/index/setting`])
})

test.each([
  ['security@example.com', true],
  ['https://example.com/report', true],
  ['', true],
  ['http://example.com', false],
  ['somebody', false],
  ['a@example.com\nContact: b@example.com', false],
  ['https://', false],
  ['javascript:alert(1)@a.b', false]
])('the contact %j is taken: %j', (contact, taken) => {
  expect(Settings.shape.security_contact.safeParse(contact).success).toBe(taken)
})

test('the picture that a page names for its links is there, as a picture', async () => {
  const [, picture = ''] = /<meta property="og:image" content="(.*?)"/.exec((await open('/')).body) ?? []
  expect(picture).toBe(`${base}/share.png`)
  const { statusCode, headers, rawPayload } = await app.inject({ url: picture.slice(base.length) })
  expect([statusCode, headers['content-type']]).toEqual([200, 'image/png'])
  expect(rawPayload.subarray(1, 4).toString()).toBe('PNG')
})

test('a page has the name, icon and accent of the shop from the first paint on', async () => {
  expect((await open('/')).body).toContain('alt="" />Netlet</span>')
  await writeSettings(shop.ctx, { shop_name: 'Ada & Co', shop_accent: '#7c3aed' })
  const { body } = await open('/status')
  expect(body).not.toContain('Netlet')
  expect(body).toContain('<title>Status · Ada &amp; Co</title>')
  expect(body).toContain('property="og:site_name" content="Ada &amp; Co"')
  expect(body).toContain('alt="" />Ada &amp; Co</span><noscript>Ada &amp; Co needs')
  expect(body).toMatch(/<style id="accent">html:root\{--nl-ink:#[\da-f]{6}/)
  const [, meta = ''] = /<meta name="shop" content="([^"]*)">/.exec(body) ?? []
  expect(JSON.parse(meta.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))).toEqual({
    name: 'Ada & Co',
    accent: '#7c3aed',
    logo: null
  })
  // The picture of links shows the default name.
  expect(body).not.toContain('og:image')
  await writeSettings(shop.ctx, { shop_name: 'Netlet', shop_accent: '' })
})

test('a page opens without the database, too', async () => {
  const about = pageAbout({
    ...shop.ctx,
    db: {
      select: () => {
        throw new Error('gone')
      }
    } as never
  })
  expect(await about('/product?id=1')).toMatchObject({ status: 200, title: 'Netlet' })
})
