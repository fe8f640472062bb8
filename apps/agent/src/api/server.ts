import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Pem } from '../certificate.ts'
import { parseAddress, parsePrefix, type Prefix, RangeSet } from '../net/ip.ts'
import { classicRoutes } from './classic.ts'
import type { Control } from './control.ts'
import { sendRefusal } from './send-refusal.ts'
import { declarativeRoutes } from './declarative.ts'
import { exitCheckRoutes, liveRoutes } from './live.ts'
import { agentClaim, CONSOLE_HEADER } from '@netlet/contract/agent'

/** The call by which a console claims the agent. It must work for consoles that do not own it. */
const CLAIM = '/api/owner'

function ownerRoutes(app: FastifyInstance, { owner, store }: Control): void {
  app.put(CLAIM, async (request, reply) => {
    const claim = agentClaim.safeParse(request.body)
    if (!claim.success) return sendRefusal(reply, { reason: 'badBody' })
    const claimed = await owner.claim(claim.data, () => store.figures.users === 0)
    if (claimed.ok) return { owner: claimed.owner }
    const detail = claimed.reason === 'foreignConsole' ? `${claimed.owner.name}, ${claimed.owner.id}` : undefined
    return sendRefusal(reply, { ...claimed, ...(detail === undefined ? {} : { detail }) })
  })
}

/** Refuses changes by a console that does not own the agent. Classic verbs name no console and need only the token. */
function refuseOthers(
  { owner: { owner } }: Control,
  request: FastifyRequest,
  reply: FastifyReply
): FastifyReply | undefined {
  const { method } = request
  if (owner === null || method === 'GET' || method === 'HEAD') return undefined
  if (request.routeOptions.url === CLAIM) return undefined
  const [id, mark] = String(request.headers[CONSOLE_HEADER] ?? '').split(' ')
  if (!id && method === 'POST') return undefined
  const detail = `${owner.name}, ${owner.id}`
  if (id !== owner.id) return sendRefusal(reply, { reason: 'foreignConsole', detail, owner })
  if (mark !== undefined && mark !== owner.mark) return sendRefusal(reply, { reason: 'olderConsole', owner })
  return undefined
}

/** Admits one caller at a time, in order of arrival. */
export class OneAtATime<T extends object> {
  #waiting: Array<{ who: T; go: () => void }> = []
  #inside: T | null = null

  /** Resolves when it is the turn of `who`. It never resolves if `who` leaves first. */
  enter(who: T): Promise<void> {
    if (this.#inside === null) {
      this.#inside = who
      return Promise.resolve()
    }
    return new Promise(go => this.#waiting.push({ who, go }))
  }

  /** Ends the turn or the wait of `who`. Harmless if `who` never entered. */
  leave(who: T): void {
    if (this.#inside !== who) {
      this.#waiting = this.#waiting.filter(each => each.who !== who)
      return
    }
    const next = this.#waiting.shift()
    this.#inside = next?.who ?? null
    next?.go()
  }
}

/** Twice the size of 100,000 domains and 65,536 prefixes. */
const bodyLimit = 16 << 20
/** Parsing takes up to thirty times a body's length in memory, so larger bodies are parsed one at a time. */
const LARGE_BODY = 256 << 10

/** Always allowed: anyone on this machine has root, and the console's SSH tunnel ends here. */
const LOOPBACK = new RangeSet(['127.0.0.0/8', '::1/128'].flatMap(text => parsePrefix(text) ?? []))

const isLoopback = (address: string | undefined): boolean =>
  address === '::1' || /^(?:::ffff:)?127\./.test(address ?? '')

/** Closes other clients' connections before it reads a byte. */
function refuseStrangers(app: FastifyInstance, allowed: RangeSet): void {
  app.server.prependListener('connection', (socket: Socket) => {
    const address = parseAddress(socket.remoteAddress ?? '')
    if (address === null || !(LOOPBACK.has(address) || allowed.has(address))) socket.destroy()
  })
}

const TRY_AGAIN_MS = 100

/** @param patienceMs how long to wait for a process that still holds the port and is about to end */
export async function listenApi(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  patienceMs: number
): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      await app.listen({ host, port })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() > until) throw error
      await new Promise(resolve => setTimeout(resolve, TRY_AGAIN_MS))
    }
  }
}

/** Closes the API with all its connections, whether it listens by itself or on a handle that was handed over. */
export async function closeApi(app: FastifyInstance): Promise<void> {
  app.server.closeAllConnections()
  await app.close()
}

/** The management API. It does not listen yet. */
export function managementApi(
  control: Control,
  log: Logger,
  https: Pem | null,
  allowClients: readonly Prefix[] = []
): FastifyInstance {
  const options = {
    bodyLimit,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    forceCloseConnections: true
  }
  const app: FastifyInstance = https === null ? fastify(options) : fastify({ ...options, https })
  if (allowClients.length > 0) refuseStrangers(app, new RangeSet(allowClients))
  const large = new OneAtATime<IncomingMessage>()

  app.addHook('onRequest', async (request, reply) => {
    // The reply is sent or the caller is gone, so the next large body may be parsed.
    reply.raw.once('close', () => large.leave(request.raw))
    const path = request.url.split('?')[0]
    if (control.isHandedOver()) return sendRefusal(reply, { reason: 'takingOver' })
    if (path === '/healthz') return
    // The figures name no one, so a collector on this machine needs no token. They need no workers either.
    if (path === '/metrics' && isLoopback(request.socket.remoteAddress)) return
    if (!control.token.accepts(request.headers.authorization)) {
      return sendRefusal(reply.header('www-authenticate', 'Bearer'), { reason: 'badToken' })
    }
    if (path === '/metrics') return
    await control.ready
    if (control.isHandingOver()) return sendRefusal(reply, { reason: 'takingOver' })
    if (control.health().workers === 0) return sendRefusal(reply, { reason: 'notServing' })
    return refuseOthers(control, request, reply)
  })
  // Checked again when the body is here: another console may have claimed the agent while it arrived.
  app.addHook('preHandler', async (request, reply) => refuseOthers(control, request, reply))

  // A takeover may have begun while the body arrived.
  app.addHook('preHandler', async (request, reply) => {
    const path = request.url.split('?')[0]
    if (path === '/healthz' || path === '/metrics') return
    if (control.isHandingOver()) return sendRefusal(reply, { reason: 'takingOver' })
  })

  // The text of the body decides its format: curl labels every body as a form by default.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, async (request: FastifyRequest, body: string) => {
    if (body.length > LARGE_BODY) await large.enter(request.raw)
    const text = body.trim()
    if (text === '') return {}
    if (!/^[[{"]/.test(text)) return Object.fromEntries(new URLSearchParams(text))
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw Object.assign(new Error('not JSON'), { statusCode: 400 })
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

  ownerRoutes(app, control)
  declarativeRoutes(app, control)
  liveRoutes(app, control)
  exitCheckRoutes(app, control)
  classicRoutes(app, control)
  return app
}
