import { refusals, refuse, sentenceOf, SUCCESS, type Reason, type Refusal } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import cookie from '@fastify/cookie'
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply
} from 'fastify'
import { isTemporaryFailure } from '../db/client.ts'
import type { Log } from '../log.ts'
import { DEEPEST_JSON, isDeeperThan } from './json-depth.ts'
import { watchForProxies } from './client-address.ts'

declare module 'fastify' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface adds to another's type
  interface FastifyRequest {
    /** The raw bytes of a JSON body, because webhook signatures cover them. */
    rawBody: Buffer | null
  }
  // oxlint-disable-next-line typescript/consistent-type-definitions
  interface FastifyContextConfig {
    /** Only the handler parses the body. */
    rawBody?: boolean
  }
}

/** Headers of every reply. One that bypasses Fastify (`hijack`) sends them itself. */
export const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'SAMEORIGIN'
}

const BODY_LIMIT = 1024 * 1024
/** When to ask again if something is away or has no room. */
const RETRY_AFTER_SECONDS = 5

/** Milliseconds. Only tests set other values. */
export type Timeouts = {
  /** From the connection, or the end of the previous request, until all headers have arrived. */
  headers: number
  /** The same until the whole body has arrived. Fastify waits forever by default. */
  request: number
  /** Without a byte in either direction, as from a client that does not read. Event streams send heartbeats. */
  idle: number
  /** How often Node checks for late requests, which therefore end up to this much later. */
  check: number
}
const TIMEOUTS: Timeouts = { headers: 20_000, request: 60_000, idle: 300_000, check: 5_000 }

/** An HTTP server that sends every failure in our envelope. `mount` adds the routes. */
export async function createApp(options: {
  log: Log
  trustProxy: string | false
  timeouts?: Timeouts
}): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = options.log
  const timeouts = options.timeouts ?? TIMEOUTS
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: options.trustProxy,
    bodyLimit: BODY_LIMIT,
    // A reverse proxy may send requests by its open connections until they close.
    return503OnClosing: false,
    // The reply carries it, and so do the lines of the log.
    genReqId: () => randomUUID(),
    requestTimeout: timeouts.request,
    connectionTimeout: timeouts.idle,
    http: { headersTimeout: timeouts.headers, connectionsCheckingInterval: timeouts.check },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    // A path that cannot be decoded is the client's mistake, and also gets our envelope.
    frameworkErrors(error, _request, reply) {
      sendError(error, reply as never, options.log)
    },
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy(error)
      const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      const body = JSON.stringify(envelopeOf(refuse(late ? 'too_slow' : 'bad_request')))
      const status = late ? '408 Request Timeout' : '400 Bad Request'
      // `end` alone would keep a client connected that never reads, or never ends its side.
      socket.once('finish', () => socket.destroy())
      socket.end(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
      )
    }
  })
  watchForProxies(app, options.log)
  limitPipelines(app)
  await app.register(cookie)
  app.decorateRequest('rawBody', null)
  app.removeAllContentTypeParsers()
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser(['application/json'], { parseAs: 'buffer' }, (request, body, next) => {
    request.rawBody = body as Buffer
    if (body.length === 0 || request.routeOptions.config.rawBody) return next(null, undefined)
    let text: string
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer)
    } catch {
      return next(Object.assign(new Error('The body is not valid UTF-8'), { statusCode: 400 }))
    }
    if (isDeeperThan(text, DEEPEST_JSON))
      return next(Object.assign(new Error('The body is nested too deeply'), { statusCode: 400 }))
    // It replies through `next`; only its type allows a promise.
    void parseJson(request, text, next)
  })
  app.setErrorHandler<FastifyError>((error, _request, reply) => sendError(error, reply, options.log))
  app.addHook('onSend', async (request, reply) => {
    reply.headers(SAFE_HEADERS)
    reply.header('x-request-id', request.id)
    // Replies carry passwords, keys and codes. No cache may keep one: the catalogue has its own on the server.
    if (request.url.startsWith('/api') && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
  return app
}

/** More than clients send before they have read an answer: browsers and reverse proxies send one. */
const MOST_PIPELINED = 8

/** Ends a connection that sends requests without reading answers: each would keep its reply in memory. */
function limitPipelines(app: FastifyInstance): void {
  const open = new WeakMap<Socket, number>()
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    const count = (open.get(socket) ?? 0) + 1
    if (count > MOST_PIPELINED) socket.destroy()
    // What has arrived with it is still read from the connection.
    if (socket.destroyed) return void reply.hijack()
    open.set(socket, count)
    reply.raw.once('close', () => open.set(socket, (open.get(socket) ?? 1) - 1))
    done()
  })
}

/** A refusal on the wire: reason and parameters for programs, a sentence for people. */
function envelopeOf(refusal: Refusal) {
  const { reason, params, data } = refusal
  return {
    code: refusals[reason][0],
    data: { reason, ...(params ? { params } : {}), ...data },
    msg: sentenceOf(refusal)
  }
}

export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const body = envelopeOf(refusal)
  if ('retry_after' in body.data) void reply.header('retry-after', String(body.data.retry_after))
  else if (body.code === 503) void reply.header('retry-after', String(RETRY_AFTER_SECONDS))
  return reply.code(body.code).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

export function sendData(reply: FastifyReply, data: unknown): FastifyReply {
  return reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ code: SUCCESS, data: data ?? null, msg: 'success' }))
}

const REASON_OF_STATUS: Record<number, Reason> = {
  400: 'bad_request',
  403: 'forbidden',
  404: 'not_found',
  408: 'too_slow',
  413: 'too_large',
  415: 'unsupported_type',
  429: 'too_many',
  503: 'unavailable'
}

function sendError(error: FastifyError, reply: FastifyReply, log: Log): FastifyReply {
  const status = error.statusCode ?? 500
  if (status >= 400 && status < 500) return sendRefusal(reply, refuse(REASON_OF_STATUS[status] ?? 'bad_request'))
  // The database was away, or ended this transaction even after its retries.
  const temporary = isTemporaryFailure(error)
  const { id, method, routeOptions } = reply.request ?? {}
  log.error({ err: error, method, path: routeOptions?.url, request: id }, 'request failed')
  return sendRefusal(reply, refuse(temporary ? 'unavailable' : 'internal'))
}
