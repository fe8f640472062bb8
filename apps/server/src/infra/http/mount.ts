import { type Readable, Transform } from 'node:stream'
import { type Refusal, type ReplyOf, type Route, refuse } from '@netlet/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type UserActor, type VisitorActor, mayDo } from '../actor.ts'
import { fieldReasons, formRefusal } from '../refusals.ts'
import { type Result, ok } from '../result.ts'
import { sendData, sendRefusal } from './app.ts'
import { clientAddress, forwardedClient, limitedClient, widestNetwork } from './client-address.ts'

const MAX_LENGTH = 200

/** The Idempotency-Key header of a call that takes one; null where there is none, and none is required. */
function idempotencyKeyOf(
  { idempotencyKey: takes }: Pick<Route, 'idempotencyKey'>,
  request: FastifyRequest
): Result<string | null> {
  const header = request.headers['idempotency-key']
  if (!takes || (header === undefined && takes === 'optional')) return ok(null)
  const valid = typeof header === 'string' && header.length <= MAX_LENGTH && /^[\x21-\x7e]+$/.test(header)
  return valid ? ok(header) : refuse('idempotency_key_invalid', { params: { max: MAX_LENGTH } })
}

export type Authenticator = {
  /** Identifies the caller; null for a visitor. */
  authenticate(request: FastifyRequest): Promise<UserActor | null>
  /** Counts a program's call, and refuses it if there were too many. */
  admit(caller: UserActor, route: Route): Promise<Refusal | null>
  /** Refuses a call that asks for a confirmation if the caller's session has none, or an old one. */
  confirmed(caller: UserActor, route: Route, sent: { body: unknown; query: unknown }): Promise<Refusal | null>
  /** Is told which calls are refused before they run. */
  refused(caller: UserActor, route: Route, refusal: Refusal): Promise<void>
  /** Did a browser send this from our own pages? Also true for programs, which send no such headers. */
  fromOurOrigin(request: FastifyRequest): boolean
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : never
type PartsOf<R> =
  R extends Route<infer P, infer Q, infer B, infer _> ? { params: Parsed<P>; query: Parsed<Q>; body: Parsed<B> } : never

/** `caller` is the actor of the route's commands. `idempotencyKey` is null if the route takes none or none was sent. */
export type Call<R, Who> = PartsOf<R> & {
  caller: Who
  idempotencyKey: string | null
  request: FastifyRequest
  reply: FastifyReply
}

/** The handler has sent the reply (a file, a redirect), so there is no envelope. */
export const SENT = Symbol('sent')

export type Handler<R, Who> = (call: Call<R, Who>) => Promise<Result<ReplyOf<R>> | typeof SENT>

export type WhoCalls<R extends Route> = R['access'] extends 'public' ? UserActor | VisitorActor : UserActor

type MountOptions = {
  /** Called for a request that failed with a status of 400 to 499 before its handler, such as an unreadable body. */
  onUnreadable?: (request: FastifyRequest, status: number) => Promise<void>
}

export type Mount = <R extends Route>(route: R, handler: Handler<R, WhoCalls<R>>, options?: MountOptions) => void

/** Makes the function that adds a route of the contract and its handler to the server. */
export function mounter(app: FastifyInstance, authenticator: Authenticator): Mount {
  const callers = new WeakMap<FastifyRequest, UserActor>()
  const countBody = openBodyBudget()
  const shareOfNetwork = createShares(OF_ONE_NETWORK)
  return (route, handler, { onUnreadable } = {}) => {
    // Payments do not wait behind a flood of other webhooks of the platform.
    const share: typeof shareOfNetwork = route.rawBody ? (_key, work) => work() : shareOfNetwork
    app.route({
      method: route.method,
      url: route.path.replace(/(.)\/$/, '$1'),
      bodyLimit: route.bodyLimit ?? (route.access === 'admin' ? 1024 * 1024 : 64 * 1024),
      config: { rawBody: route.rawBody === true },
      // Before the body is read: one that is refused anyway costs nothing.
      onRequest: async (request, reply) => {
        if (!authenticator.fromOurOrigin(request)) return sendRefusal(reply, refuse('bad_origin'))
        const found = await share(networkOf(request), () => authenticator.authenticate(request))
        const caller = found && route.access === 'public' && !showsMore(route, found) ? null : found
        const refused = (caller && (await authenticator.admit(caller, route))) ?? forbidden(route, caller)
        if (refused && caller) await authenticator.refused(caller, route, refused)
        if (refused) return sendRefusal(reply, refused)
        if (caller) callers.set(request, caller)
      },
      preParsing: (request, reply, payload, next) => {
        next(null, countBody(networkOf(request), reply, payload as Readable))
      },
      ...(onUnreadable ? { onError: (request, _reply, error) => onUnreadable(request, error.statusCode ?? 500) } : {}),
      handler: async (request, reply) => {
        const caller = callers.get(request)
        const parts = parse(route, request)
        if (!parts.ok) return sendRefusal(reply, parts)
        const key = idempotencyKeyOf(route, request)
        if (!key.ok) return sendRefusal(reply, key)
        const unconfirmed = caller && (await authenticator.confirmed(caller, route, parts.data))
        if (unconfirmed) return sendRefusal(reply, unconfirmed)
        const call = {
          ...parts.data,
          caller: caller ?? { kind: 'visitor', ip: clientAddress(request), forwardedFor: forwardedClient(request) },
          idempotencyKey: key.data,
          request,
          reply
        }
        const result = await share(networkOf(request), () => handler(call as never))
        if (result === SENT) return reply
        return result.ok ? sendData(reply, result.data) : sendRefusal(reply, result)
      }
    })
  }
}

const networkOf = (request: FastifyRequest): string =>
  widestNetwork(limitedClient({ ip: clientAddress(request), forwardedFor: forwardedClient(request) }))

/** Calls of one network that run at once: three times the process's connections to the database. */
const OF_ONE_NETWORK = 32

/**
 * Runs at most `atOnce` works of a key at once, in sequence. All share the connections to the database, and one client
 * with hundreds of calls would make each step of the others wait behind all of them.
 */
export function createShares(atOnce: number) {
  const lines = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { running: 0, waiting: [] }
    lines.set(key, line)
    if (line.running >= atOnce) await new Promise<void>(begin => line.waiting.push(begin))
    else line.running++
    try {
      return await work()
    } finally {
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.running === 0) lines.delete(key)
    }
  }
}

/** Without a second factor an operator sees what every visitor sees, and so does a token without the permission. */
const showsMore = (route: Route, caller: UserActor): boolean =>
  (!caller.mustEnrol || route.beforeSecondFactor === true) &&
  (!caller.permissions || (route.permission !== undefined && mayDo(caller, route.permission)))

function forbidden(route: Route, caller: UserActor | null): Refusal | null {
  if (route.access === 'public') return null
  if (!caller) return refuse('unauthorized')
  if (caller.mustEnrol && !route.beforeSecondFactor) return refuse('second_factor_required')
  if (caller.scopes) {
    if (!route.scope) return refuse('key_not_allowed')
    return caller.scopes.includes(route.scope) ? null : refuse('key_scope_missing', { params: { scope: route.scope } })
  }
  if (!caller.isSuperuser) return route.access === 'admin' ? refuse('forbidden') : null
  if (caller.permissions) {
    if (!route.permission || route.sessionOnly) return refuse('key_not_allowed')
    if (!caller.permissions.includes(route.permission))
      return refuse('key_permission_missing', { params: { permission: route.permission } })
  }
  return !route.permission || mayDo(caller, route.permission) ? null : refuse('role_not_allowed')
}

type Parts = { params: unknown; query: unknown; body: unknown }

/**
 * zod compares the `length` of any value that should be a text, and throws if that is an object without a number. Null
 * stands for such a value, which fits no schema.
 */
export function validate(schema: z.ZodType, value: unknown): ReturnType<z.ZodType['safeParse']> | null {
  try {
    return schema.safeParse(value)
  } catch (error) {
    if (error instanceof TypeError && error.message.includes('primitive value')) return null
    throw error
  }
}

/** More wrong fields than any form has. It bounds the reply for a body with endless fields. */
export const MAX_REPORTED_FIELDS = 200

/** Checks each part against the contract. A refusal has each field's message, key and parameters. */
function parse(route: Route, request: FastifyRequest): Result<Parts> {
  const found: Parts = { params: request.params, query: request.query, body: request.body }
  for (const part of ['params', 'query', 'body'] as const) {
    const schema = route[part]
    if (!schema) continue
    const parsed = validate(schema, found[part] ?? (part === 'body' ? undefined : {}))
    if (!parsed) return refuse('bad_request')
    if (!parsed.success) {
      const errors: Record<string, string> = {}
      for (const issue of parsed.error.issues.slice(0, MAX_REPORTED_FIELDS))
        errors[issue.path.join('.') || part] ??= issue.message
      // A path with an invalid id names nothing. A form gets the message of its first wrong field.
      if (part === 'params') return refuse('not_found', { data: fieldReasons(errors) })
      return formRefusal(errors)
    }
    found[part] = parsed.data
  }
  return { ok: true, data: found }
}

const MIB = 1024 * 1024
/** Bytes of bodies that strangers may hold in one process, and one client's share of them: two of the largest. */
const BUDGET = { all: 64 * MIB, client: 16 * MIB }

type Body = { client: string; bytes: number; stream: Transform }

/**
 * Bounds the memory for bodies of callers without a session. If too many bytes are held, it ends the oldest body of the
 * client that holds most: one that never arrives in full makes room for those that do.
 * @returns counts a body until its reply has been sent
 */
export function openBodyBudget(budget: { all: number; client: number } = BUDGET) {
  /** Oldest first. */
  const bodies = new Set<Body>()
  const sizes = new Map<string, number>()
  let all = 0

  function add({ client }: Body, bytes: number): void {
    all += bytes
    const size = (sizes.get(client) ?? 0) + bytes
    if (size > 0) sizes.set(client, size)
    else sizes.delete(client)
  }

  function release(body: Body): void {
    if (!bodies.delete(body)) return
    add(body, -body.bytes)
  }

  function end(body: Body): void {
    release(body)
    body.stream.destroy(Object.assign(new Error('Too many bodies arrive too slowly'), { statusCode: 408 }))
  }

  const oldestOf = (client: string): Body | undefined => [...bodies].find(body => body.client === client)

  function makeRoom(client: string): void {
    while ((sizes.get(client) ?? 0) > budget.client || all > budget.all) {
      const most = [...sizes].reduce((a, b) => (b[1] > a[1] ? b : a))[0]
      const oldest = oldestOf((sizes.get(client) ?? 0) > budget.client ? client : most)
      if (!oldest) return
      end(oldest)
    }
  }

  return (client: string, reply: FastifyReply, payload: Readable): Readable => {
    const stream = new Transform({
      transform(chunk: Buffer, _encoding, next) {
        body.bytes += chunk.length
        if (bodies.has(body)) add(body, chunk.length)
        makeRoom(client)
        next(null, chunk)
      }
    })
    const body: Body = { client, bytes: 0, stream }
    bodies.add(body)
    reply.raw.once('close', () => release(body))
    payload.once('error', error => stream.destroy(error))
    // Fastify listens only while it reads. After a refusal the client may still break off.
    stream.on('error', () => {})
    return payload.pipe(stream)
  }
}

/** An administrator who views the shop as a user may change nothing that outlasts the visit. */
export const refuseWhileImpersonating = (by: UserActor) =>
  by.impersonator === null ? null : refuse('while_impersonating')
