import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from './app.ts'
import { serveWeb } from './web.ts'

const BUILT = '<!doctype html><meta name="description" content="x"><title>Built</title><p>$&</p>'
const PAGE = '<!doctype html><title>Netlet</title>\n    <meta name="description" content=""><p>$&</p>'
let folder: string
let app: FastifyInstance

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'netlet-web-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), BUILT)
  await writeFile(join(folder, 'assets', 'app-1a2b.js'), 'export {}')
  app = await createApp({ log: pino({ level: 'silent' }), trustProxy: false })
  app.get('/api/known', async () => 'known')
  await serveWeb(app, { demo: false, secureCookies: true }, { folder })
})
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true, force: true })
})

test.each(['/', '/product?id=1', '/dashboard/index/proxies/3', '/..%2f..%2fetc/passwd'])(
  '%s opens the app',
  async url => {
    const reply = await app.inject({ url })
    expect(reply.statusCode).toBe(200)
    expect(reply.body).toBe(PAGE)
    expect(reply.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
    expect((await app.inject({ method: 'HEAD', url })).statusCode).toBe(200)
  }
)

test('a page is compressed if the browser supports it', async () => {
  for (const url of ['/', '/product']) {
    const reply = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })
    expect(reply.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(reply.rawPayload).toString()).toBe(PAGE)
  }
})

test('a page that did not change is not sent again', async () => {
  const { etag } = (await app.inject({ url: '/' })).headers
  const again = await app.inject({ url: '/', headers: { 'if-none-match': String(etag) } })
  expect([again.statusCode, again.body]).toEqual([304, ''])
  expect((await app.inject({ url: '/', headers: { 'accept-encoding': 'br;q=0' } })).body).toBe(PAGE)
})

test('assets may be cached permanently, because their names contain a hash', async () => {
  const reply = await app.inject({ url: '/assets/app-1a2b.js' })
  expect(reply.headers['cache-control']).toBe('public, max-age=31536000, immutable')
})

test('files that are built later are served as well', async () => {
  await writeFile(join(folder, 'assets', 'late-3c4d.js'), 'export {}')
  expect((await app.inject({ url: '/assets/late-3c4d.js' })).statusCode).toBe(200)
})

test.each([
  ['GET', '/assets/gone.js', 404],
  ['GET', '/api/unknown', 404],
  ['POST', '/', 404],
  ['GET', '/assets/', 403]
] as const)('%s %s is refused in our envelope', async (method, url, code) => {
  const reply = await app.inject({ method, url })
  expect(reply.statusCode).toBe(code)
  expect(reply.json()).toMatchObject({ code })
})

test('every page restricts the sources of scripts and pictures', async () => {
  const { headers } = await app.inject({ url: '/' })
  expect(headers['content-security-policy']).toContain("script-src 'self'")
  expect(headers['content-security-policy']).toContain("frame-ancestors 'self'")
  expect(headers['content-security-policy']).toContain("base-uri 'none'")
  expect(headers['strict-transport-security']).toBeDefined()
})
