import { refusals, refuse, sentenceOf, SUCCESS, type Reason, type Refusal } from '@netlet/contract'
import cookie from '@fastify/cookie'
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply
} from 'fastify'
import { isConnectionLoss } from '../db/client.ts'
import type { Log } from '../log.ts'
import { isDeeperThan } from './json-depth.ts'

declare module 'fastify' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface adds to another's type
  interface FastifyRequest {
    /** The bytes of a JSON body as they came: webhooks are signed over them. */
    rawBody: Buffer | null
  }
}

/** Every reply has them; one that leaves Fastify's hands (`hijack`) sends them itself. */
export const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'SAMEORIGIN'
}

const BODY_LIMIT = 1024 * 1024
const DEEPEST_JSON = 100

/** An HTTP server with our envelope for every kind of failure. Routes are added by `mount`. */
export async function createApp(options: { log: Log; trustProxy: string | false }): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = options.log
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: options.trustProxy,
    bodyLimit: BODY_LIMIT,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    // A path that cannot be decoded is the caller's mistake and deserves our envelope too.
    frameworkErrors(error, _request, reply) {
      sendError(error, reply as never, options.log)
    },
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy(error)
      const body = JSON.stringify(envelopeOf(refuse('bad_request')))
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
      )
    }
  })
  await app.register(cookie)
  app.decorateRequest('rawBody', null)
  app.removeAllContentTypeParsers()
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser(['application/json'], { parseAs: 'buffer' }, (request, body, next) => {
    request.rawBody = body as Buffer
    if (body.length === 0) return next(null, undefined)
    let text: string
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer)
    } catch {
      return next(Object.assign(new Error('The body is not valid UTF-8'), { statusCode: 400 }))
    }
    if (isDeeperThan(text, DEEPEST_JSON))
      return next(Object.assign(new Error('The body is nested too deeply'), { statusCode: 400 }))
    // It answers through `next`; its type only says that it might be a promise.
    void parseJson(request, text, next)
  })
  app.setErrorHandler<FastifyError>((error, _request, reply) => sendError(error, reply, options.log))
  app.addHook('onSend', async (_request, reply) => void reply.headers(SAFE_HEADERS))
  return app
}

/** A refusal on the wire: its reason with parameters for programs, its sentence for people. */
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
  // Seconds.
  if ('retry_after' in body.data) void reply.header('retry-after', String(body.data.retry_after))
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
  413: 'too_large',
  415: 'unsupported_type',
  429: 'too_many',
  503: 'unavailable'
}

function sendError(error: FastifyError, reply: FastifyReply, log: Log): FastifyReply {
  const status = error.statusCode ?? 500
  if (status >= 400 && status < 500) return sendRefusal(reply, refuse(REASON_OF_STATUS[status] ?? 'bad_request'))
  const gone = isConnectionLoss(error)
  log.error({ err: error, method: reply.request?.method, path: reply.request?.routeOptions?.url }, 'request failed')
  return sendRefusal(reply, refuse(gone ? 'unavailable' : 'internal'))
}
