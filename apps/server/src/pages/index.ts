import { type Brand, DEFAULT_SHOP_NAME } from '@netlet/contract'
import { pagePaths } from '@netlet/contract/pages'
import type { FastifyInstance } from 'fastify'
import { advertisedProduct, productsOnSale } from '../domains/catalog/index.ts'
import { readBrand, readSettings, readSome } from '../domains/settings/index.ts'
import { DAY } from '../infra/clock.ts'
import type { AppContext } from '../infra/context.ts'
import type { PageHead } from '../infra/http/web.ts'
import { aboutPage, LISTED } from './about.ts'

/** A sitemap may have 50,000 addresses. */
const MOST = 49_000

/** Milliseconds. A visitor does not wait longer for what only programs read. */
const PATIENCE = 1000

const DEFAULT: Brand = { name: DEFAULT_SHOP_NAME, accent: '', logo: null }

/** The picture of links, which other programs cannot show as SVG: the logo, else the default shop's own. */
const pictureOf = ({ name, logo }: Brand): string | null =>
  logo !== null && !logo.endsWith('.svg') ? logo : name === DEFAULT_SHOP_NAME ? '/share.png' : null

/**
 * What each page is about: see {@link aboutPage}. Without the database a page says less, and opens all the same, under
 * the name that it last had.
 */
export function pageAbout(ctx: AppContext): (url: string) => Promise<PageHead> {
  let brand = DEFAULT
  const facts = {
    publicUrl: baseOf(ctx),
    currency: async () => (await readSettings(ctx.db, ctx.secrets)).shop_currency,
    product: (id: number) => advertisedProduct(ctx.db, id)
  }
  return async url => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, fail) => {
      timer = setTimeout(() => fail(new Error('the database did not say in time what the page is about')), PATIENCE)
    })
    const about = async () => {
      brand = await readBrand(ctx.db)
      const { name } = brand
      return { ...(await aboutPage(url, { ...facts, name, picture: pictureOf(brand) })), brand }
    }
    try {
      return await Promise.race([about(), late])
    } catch (error) {
      ctx.log.warn({ err: error }, 'a page was sent without what it is about')
      return { status: 200, title: brand.name, description: '', brand }
    } finally {
      clearTimeout(timer)
    }
  }
}

/** What search engines ask for: which pages there are, and which they are to leave alone. */
export function searchEngineRoutes(app: FastifyInstance, ctx: AppContext): void {
  const base = baseOf(ctx)
  app.get('/robots.txt', (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .send(`User-agent: *\nDisallow: /api/\nDisallow: /dashboard\n\nSitemap: ${base}/sitemap.xml\n`)
  )
  app.get('/sitemap.xml', async (_request, reply) => {
    const products = (await productsOnSale(ctx.db, MOST)).map(id => `/product?id=${id}`)
    const entries = [...LISTED, ...products].map(path => `<url><loc>${base}${path}</loc></url>`)
    return reply
      .type('application/xml; charset=utf-8')
      .header('cache-control', 'public, max-age=300')
      .send(
        `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join('\n')}\n</urlset>\n`
      )
  })
}

const LANGUAGE_TAGS = 'en, zh'

/** Below the year that RFC 9116 allows, and far above the day for which programs may keep the file. */
const CONTACT_VALID = 180 * DAY

/** What security researchers and password managers ask for: where to report, and where to change a password. */
export function wellKnownRoutes(app: FastifyInstance, ctx: AppContext): void {
  const base = baseOf(ctx)
  const path = '/.well-known/security.txt'
  app.get(path, async (_request, reply) => {
    const { security_contact: contact } = await readSome(ctx.db, ['security_contact'])
    void reply.type('text/plain; charset=utf-8')
    if (contact === '') return reply.code(404).send('This shop names no contact for security reports.\n')
    const uri = contact.startsWith('https://') ? contact : `mailto:${contact}`
    const expires = new Date(ctx.now().getTime() + CONTACT_VALID).toISOString()
    return reply.send(
      `Contact: ${uri}\nExpires: ${expires}\nPreferred-Languages: ${LANGUAGE_TAGS}\nCanonical: ${base}${path}\n`
    )
  })
  app.get('/.well-known/change-password', (_request, reply) => reply.redirect(`${base}${pagePaths.userSettings}`, 302))
}

const baseOf = ({ config }: AppContext) => config.publicUrl.replace(/\/$/, '')
