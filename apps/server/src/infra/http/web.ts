import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import helmet from '@fastify/helmet'
import fastifyStatic from '@fastify/static'
import { accentSheet, type Brand, DEFAULT_SHOP_NAME, refuse } from '@netlet/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'
import { sendRefusal } from './app.ts'

const dist = fileURLToPath(new URL('../../../../web/dist', import.meta.url))

type Options = {
  /** The head of the page at an address. Without it every address is the app, and none is missing. */
  about?: (url: string) => Promise<PageHead>
  folder?: string
}

const ANY: PageHead = { status: 200, title: DEFAULT_SHOP_NAME, description: '' }

/** Serves the built web app. Every path that is neither a route nor a file opens the app, which has its own router. */
export async function serveWeb(
  app: FastifyInstance,
  config: Pick<Config, 'demo' | 'secureCookies'>,
  { about = async () => ANY, folder = dist }: Options = {}
): Promise<void> {
  await app.register(helmet, {
    // Pictures come from the platform's servers; the stand-in platform has no certificate.
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        imgSrc: ["'self'", 'data:', 'https:', ...(config.demo ? ['http://127.0.0.1:*'] : [])],
        styleSrc: ["'self'", "'unsafe-inline'"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'self'"],
        ...(config.secureCookies ? { upgradeInsecureRequests: [] } : {})
      }
    },
    strictTransportSecurity: config.secureCookies,
    crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' },
    referrerPolicy: { policy: 'same-origin' },
    frameguard: { action: 'sameorigin' }
  })
  const built = existsSync(join(folder, 'index.html'))
  // In development another server has it; `npm start` builds it first.
  if (!built && !config.demo)
    app.log.warn('The web app is not built, so only the API answers. Build it with `npm run build`.')
  if (built) {
    await app.register(fastifyStatic, {
      root: folder,
      preCompressed: true,
      index: false,
      cacheControl: false,
      setHeaders(reply, path) {
        // The names of assets contain a hash of their content.
        reply.header('cache-control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
      }
    })
  }
  const sendPage = builtPage(join(folder, 'index.html'))
  // The file server treats `/` as a folder, and lists none.
  if (built) {
    app.get('/', async (request, reply) => sendPage(request, reply, await about(request.url)))
    // As a file it would be the first page without its head.
    app.get('/index.html', (request, reply) => reply.redirect(`/${/\?.*/.exec(request.url)?.[0] ?? ''}`, 301))
  }
  app.setNotFoundHandler(async (request, reply) => {
    const page = (request.method === 'GET' || request.method === 'HEAD') && !/^\/(api|assets)\//.test(request.url)
    if (page && built) return sendPage(request, reply, await about(request.url))
    return sendRefusal(reply, refuse('not_found'))
  })
}

type Made = { etag: string; plain: Buffer; br: Buffer; gzip: Buffer }

/** Clients can invent addresses, so both bounds are needed. */
const MOST_PAGES = 200
const MOST_BYTES = 8 * 1024 * 1024

/** Sends the built page with the head for its address, and caches the compressed result. */
function builtPage(path: string) {
  const made = new LRUCache<string, Made>({
    max: MOST_PAGES,
    maxSize: MOST_BYTES,
    sizeCalculation: ({ plain, br, gzip }) => plain.length + br.length + gzip.length
  })
  const make = async (head: PageHead): Promise<Made> => {
    const { mtimeMs } = await stat(path)
    const key = `${mtimeMs} ${JSON.stringify(head)}`
    const known = made.get(key)
    if (known) return known
    const plain = Buffer.from(withHead(await readFile(path, 'utf8'), head))
    const page = {
      etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
      plain,
      br: await promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
      gzip: await promisify(gzip)(plain)
    }
    made.set(key, page)
    return page
  }
  return async (request: FastifyRequest, reply: FastifyReply, head: PageHead): Promise<FastifyReply> => {
    const page = await make(head)
    reply
      .code(head.status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('vary', 'accept-encoding')
      .header('etag', page.etag)
    if (head.status === 200 && request.headers['if-none-match']?.includes(page.etag)) return reply.code(304).send()
    const accepted = request.headers['accept-encoding'] ?? ''
    const encoding = (['br', 'gzip'] as const).find(name =>
      new RegExp(`\\b${name}\\b(?!;\\s*q=0(?:\\.0*)?(?:,|$))`).test(accepted)
    )
    if (!encoding) return reply.send(page.plain)
    return reply.header('content-encoding', encoding).send(page[encoding])
  }
}

/** The head of a page, for clients that run no scripts. */
export type PageHead = {
  status: 200 | 404
  title: string
  description: string
  /** The preferred address of a page that has several. */
  canonical?: string
  image?: string
  type?: 'website' | 'product'
  /** schema.org */
  data?: object
  /** False asks search engines to leave the page out. */
  indexed?: false
  /** Whose page it is, from the first paint on. */
  brand?: Brand
}

/** Replaces the title and the description of the built page. */
function withHead(html: string, head: PageHead): string {
  const { title, description, canonical, image, type = 'website', data, indexed, brand } = head
  const tags = [
    `<title>${escaped(title)}</title>`,
    `<meta name="description" content="${escaped(description)}">`,
    indexed === false && '<meta name="robots" content="noindex">',
    canonical && `<link rel="canonical" href="${escaped(canonical)}">`,
    ...(canonical
      ? [
          property('site_name', brand?.name ?? DEFAULT_SHOP_NAME),
          property('type', type),
          property('title', title),
          property('description', description),
          property('url', canonical),
          image && property('image', image),
          '<meta name="twitter:card" content="summary_large_image">'
        ]
      : []),
    // A closing tag in a text would end the element.
    data && `<script type="application/ld+json">${JSON.stringify(data).replaceAll('<', String.raw`\u003c`)}</script>`
  ].filter(Boolean)
  return (brand ? withBrand(html, brand) : html)
    .replace(/<meta\s+name="description"[^>]*>\s*/, '')
    .replace(/<title>[^<]*<\/title>/, () => tags.join('\n    '))
}

/** Replaces the default name, icon and accent of the built page, and hands them to the app (`apps/web/src/kit/brand.tsx`). */
function withBrand(html: string, brand: Brand): string {
  const { name, accent, logo } = brand
  if (name === DEFAULT_SHOP_NAME && accent === '' && logo === null) return html
  const tags = [
    `<meta name="shop" content="${escaped(JSON.stringify(brand))}">`,
    accent !== '' && `<style id="accent">${accentSheet(accent)}</style>`
  ].filter(Boolean)
  const icon = logo === null ? '/icon.svg' : escaped(logo)
  return html
    .replace(/<link rel="icon"[^>]*>/, () =>
      [
        logo === null ? '<link rel="icon" href="/icon.svg" type="image/svg+xml">' : `<link rel="icon" href="${icon}">`,
        ...tags
      ].join('\n    ')
    )
    .replace(
      /(<span class="brand">\s*<img src=")[^"]*("[^>]*>)[^<]*/,
      (_, before: string, after: string) => before + icon + after + escaped(name)
    )
    .replace(/(<noscript>)\w+/, (_, tag: string) => tag + escaped(name))
}

const property = (name: string, content: string) => `<meta property="og:${name}" content="${escaped(content)}">`

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
