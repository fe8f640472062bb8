import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { classicRoutes } from './classic.ts'
import type { Control } from './control.ts'
import { declarativeRoutes } from './declarative.ts'
import { sendRefusal } from './replies.ts'

/** 100,000 domains and 65,536 prefixes fit twice over. */
const bodyLimit = 16 << 20

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Reads certificate and key; null where one cannot be read. */
export async function readTls(tls: { cert: string; key: string }): Promise<{ cert: Buffer; key: Buffer } | null> {
  try {
    return { cert: await readFile(tls.cert), key: await readFile(tls.key) }
  } catch {
    return null
  }
}

/** The management API, not yet listening. */
export function managementApi(
  control: Control,
  token: string,
  log: Logger,
  https: { cert: Buffer; key: Buffer } | null
): FastifyInstance {
  const options = {
    bodyLimit,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    forceCloseConnections: true
  }
  const app: FastifyInstance = https === null ? fastify(options) : fastify({ ...options, https })
  const wanted = digest(`Bearer ${token}`)

  app.addHook('onRequest', async (request, reply) => {
    if (request.url.split('?')[0] === '/healthz') return
    if (!timingSafeEqual(digest(request.headers.authorization ?? ''), wanted)) {
      return sendRefusal(reply.header('www-authenticate', 'Bearer'), { reason: 'badToken' })
    }
    await control.ready
    if (control.health().workers === 0) return sendRefusal(reply, { reason: 'notServing' })
  })

  // Operators call with curl, whose default content type is that of a form, whatever the body is.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    const text = body.toString().trim()
    if (text === '') return done(null, {})
    if (!/^[[{"]/.test(text)) return done(null, Object.fromEntries(new URLSearchParams(text)))
    try {
      done(null, JSON.parse(text))
    } catch {
      done(Object.assign(new Error('not JSON'), { statusCode: 400 }))
    }
  })

  app.setNotFoundHandler((_request, reply) => sendRefusal(reply, { reason: 'unknownPath' }))
  app.setErrorHandler((error, request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 500
    if (status === 413) return sendRefusal(reply, { reason: 'tooLarge' })
    if (status < 500) return sendRefusal(reply, { reason: 'badBody' })
    log.error({ err: error, call: `${request.method} ${request.routeOptions.url ?? ''}` }, 'a call failed')
    return sendRefusal(reply, { reason: 'internal' })
  })

  declarativeRoutes(app, control)
  classicRoutes(app, control)
  return app
}
