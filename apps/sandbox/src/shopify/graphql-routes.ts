import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { buildSchema, type ExecutionResult, graphql } from 'graphql'
import { z } from 'zod'
import type { createResolvers } from './resolvers.ts'
import { OTHER_VERSION } from './deliveries.ts'
import { randomBytes, timingSafeEqual } from 'node:crypto'

/** Faults for the next calls. */
export const GRAPHQL_FAULTS = [
  'error500',
  'throttled',
  'too_many',
  'timeout',
  'garbage',
  'unauthorized',
  /** The shop is locked. */
  'locked',
  /** Executed, but the connection breaks within the answer. */
  'half',
  /** Executed, but the connection breaks before the answer. */
  'lost',
  /** Executed, but the app may not read customers' addresses: they are null, with an error each. */
  'no_emails',
  /** The same for the publication dates of products. */
  'no_publishing',
  /** Executed in a later API version than the requested one. */
  'other_version'
] as const
/** The query is executed before these faults apply to its answer. */
const DONE = ['half', 'lost', 'no_emails', 'no_publishing', 'other_version']
/** The fields that each of these hides from the app. */
const HIDDEN: Partial<Record<GraphqlFault['kind'], string[]>> = {
  no_emails: ['email', 'defaultEmailAddress'],
  no_publishing: ['publishedAt']
}
/** `after`: number of correct answers before the fault. `retryAfter`: seconds for 'too_many'. */
export type GraphqlFault = {
  kind: (typeof GRAPHQL_FAULTS)[number]
  next: number
  after?: number
  retryAfter?: number | undefined
}

const Body = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish()
})

/** The part of the platform's Admin schema that the shop uses. */
const schema = buildSchema(readFileSync(new URL('schema.graphql', import.meta.url), 'utf8'))
const budget = { maximumAvailable: 2000, restoreRate: 100 }

/** POST /admin/api/{version}/graphql.json, as the real platform answers it. */
export function graphqlRoutes(
  app: FastifyInstance,
  options: { isTaken: (token: string) => boolean; resolvers: ReturnType<typeof createResolvers> }
) {
  const faults = createFaults()

  app.post<{ Params: { version: string } }>('/admin/api/:version/graphql.json', async (request, reply) => {
    if (!/^\d{4}-(01|04|07|10)$/.test(request.params.version)) return reply.code(404).send({ errors: 'Not Found' })
    if (!options.isTaken(String(request.headers['x-shopify-access-token'] ?? ''))) return unauthorized(reply)
    const kind = faults.next()
    void reply.header('x-shopify-api-version', kind === 'other_version' ? OTHER_VERSION : request.params.version)
    if (kind && !DONE.includes(kind)) return answerFault(kind, request, reply, faults.retryAfter())
    const body = Body.safeParse(request.body)
    if (!body.success) return reply.code(400).send({ errors: { query: 'Required parameter missing or invalid' } })
    const longest = longestList(body.data.variables)
    if (longest > MOST_IN_A_LIST) {
      const message = `The input array size of ${longest} is greater than the maximum allowed of ${MOST_IN_A_LIST}.`
      return { errors: [{ message, extensions: { code: 'MAX_INPUT_SIZE_EXCEEDED' } }] }
    }
    const result = await graphql({
      schema,
      rootValue: options.resolvers,
      source: body.data.query,
      variableValues: body.data.variables,
      operationName: body.data.operationName
    })
    const hidden = kind && HIDDEN[kind]
    const answer = { ...(hidden ? without(hidden, result) : result), extensions: cost(10, 1990) }
    return kind === 'half' || kind === 'lost' ? breakOff(reply, kind === 'half' ? JSON.stringify(answer) : '') : answer
  })

  return faults
}

/** The platform's limit of a list in the variables. */
const MOST_IN_A_LIST = 250

function longestList(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Math.max(Array.isArray(value) ? value.length : 0, ...Object.values(value).map(longestList))
}

/** The answer for an app that may not read these fields. */
function without(fields: readonly string[], { data }: ExecutionResult): object {
  const errors: object[] = []
  const hide = (value: unknown, path: (string | number)[]): unknown => {
    if (Array.isArray(value)) return value.map((one, at) => hide(one, [...path, at]))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        if (!fields.includes(key)) return [key, hide(inner, [...path, key])]
        const message = `This app is not approved to use the ${key} field.`
        errors.push({ message, path: [...path, key], extensions: { code: 'ACCESS_DENIED' } })
        return [key, null]
      })
    )
  }
  const hidden = hide(data, [])
  return errors.length > 0 ? { data: hidden, errors } : { data }
}

/** The current fault; each call counts it down. */
export function createFaults() {
  let fault: GraphqlFault | null = null
  return {
    set(next: GraphqlFault | null): void {
      fault = next
    },
    next(): GraphqlFault['kind'] | null {
      if (!fault || fault.next === 0) return null
      if (fault.after) {
        fault.after--
        return null
      }
      fault.next--
      return fault.kind
    },
    /** The current fault, with the number of remaining calls. */
    now: (): GraphqlFault | null => fault,
    retryAfter: (): number | undefined => fault?.retryAfter
  }
}

const cost = (requestedQueryCost: number, currentlyAvailable: number) => ({
  cost: { requestedQueryCost, actualQueryCost: requestedQueryCost, throttleStatus: { ...budget, currentlyAvailable } }
})

const unauthorized = (reply: FastifyReply) =>
  reply.code(401).send({ errors: '[API] Invalid API key or access token (unrecognized login or wrong password)' })

async function answerFault(kind: GraphqlFault['kind'], request: FastifyRequest, reply: FastifyReply, retryAfter = 2) {
  if (kind === 'error500') return reply.code(500).send({ errors: 'Internal Server Error' })
  if (kind === 'unauthorized') return unauthorized(reply)
  if (kind === 'locked') return reply.code(423).send({ errors: 'This shop is unavailable' })
  if (kind === 'garbage') return reply.type('text/html').send('<html><title>Something is in the way</title></html>')
  if (kind === 'too_many')
    return reply.code(429).header('retry-after', retryAfter.toFixed(1)).send({ errors: 'Exceeded 2 calls per second' })
  if (kind === 'throttled')
    return reply.send({
      errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }],
      extensions: cost(60, 40)
    })
  // 'timeout': silent until the client gives up, or the stand-in closes its connections.
  await once(request.raw.socket, 'close')
  return reply.hijack()
}

/** Sends half of the text, or nothing, and closes the connection. */
function breakOff(reply: FastifyReply, text: string) {
  reply.hijack()
  if (text) {
    reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    reply.raw.write(text.slice(0, text.length / 2))
  }
  // After the written part has been sent.
  setImmediate(() => reply.raw.destroy())
}

/** A day less a second, as on the platform. */
const LIFETIME = 86_399

const TokenBody = z.object({
  grant_type: z.string().default(''),
  client_id: z.string().default(''),
  client_secret: z.string().default('')
})
const Control = z.object({
  /** Lifetime of future tokens, in seconds. */
  lifetime: z.number().int().min(1).max(LIFETIME).optional(),
  /** Ends all granted tokens now. */
  end: z.boolean().default(false),
  /** Is the app installed in this shop? If not, it gets no token. */
  installed: z.boolean().optional(),
  fault: z.object({ kind: z.enum(['none', ...GRAPHQL_FAULTS]), next: z.number().int().min(1).default(1) }).optional()
})

/** Access tokens for the app's key and secret (OAuth client credentials). Each expires. */
export function accessTokenRoutes(
  app: FastifyInstance,
  options: { apiKey: string; secrets: () => readonly string[]; accessToken: string; now: () => number }
) {
  const { apiKey, secrets, accessToken, now } = options
  const ends = new Map<string, number>()
  const faults = createFaults()
  let lifetime = LIFETIME
  let installed = true
  let given = 0

  app.post('/admin/oauth/access_token', async (request, reply) => {
    const kind = faults.next()
    if (kind && kind !== 'half' && kind !== 'lost') return answerFault(kind, request, reply)
    const body = TokenBody.parse(
      request.body instanceof URLSearchParams ? Object.fromEntries(request.body) : request.body
    )
    const refuse = (status: number, error: string) => reply.code(status).send({ error })
    if (body.grant_type !== 'client_credentials') return refuse(400, 'unsupported_grant_type')
    if (body.client_id !== apiKey) return refuse(400, 'application_cannot_be_found')
    if (!secrets().some(secret => sameSecret(body.client_secret, secret))) return refuse(401, 'invalid_client')
    if (!installed) {
      const page = '<title>Oauth error app_not_installed: The app is not installed on this shop</title>'
      return reply.code(400).type('text/html').send(page)
    }
    const token = `shpat_${randomBytes(16).toString('hex')}`
    for (const [one, end] of ends) if (end <= now()) ends.delete(one)
    ends.set(token, now() + lifetime * 1000)
    given++
    const answer = { access_token: token, scope: 'write_products,write_orders', expires_in: lifetime }
    return kind ? breakOff(reply, kind === 'half' ? JSON.stringify(answer) : '') : answer
  })

  app.post('/sandbox/access_tokens', async request => {
    const { end, fault, ...set } = Control.parse(request.body)
    lifetime = set.lifetime ?? lifetime
    installed = set.installed ?? installed
    if (end) ends.clear()
    if (fault) faults.set(fault.kind === 'none' ? null : { kind: fault.kind, next: fault.next })
    return { lifetime, installed, given }
  })
  app.get('/sandbox/access_tokens', async () => ({ lifetime, installed, given }))

  /** Is it the permanent token, or a granted one that has not expired? */
  return (token: string): boolean => sameSecret(token, accessToken) || (ends.get(token) ?? 0) > now()
}

function sameSecret(one: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}
