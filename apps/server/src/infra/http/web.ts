import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { refuse } from '@netlet/contract'
import helmet from '@fastify/helmet'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { sendRefusal } from './app.ts'
import { builtPage } from './built-page.ts'
import type { PageHead } from './page-head.ts'

const dist = fileURLToPath(new URL('../../../../web/dist', import.meta.url))

type Options = {
  /** The head of the page at an address. Without it every address is the app, and none is missing. */
  about?: (url: string) => Promise<PageHead>
  folder?: string
}

const ANY: PageHead = { status: 200, title: 'Netlet', description: '' }

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
        baseUri: ["'self'"],
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
  if (!built) app.log.warn('The web app is not built, so only the API answers. Build it with `npm run build`.')
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
