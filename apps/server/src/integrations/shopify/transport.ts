import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { exchange, type HttpReply, parseJson } from '../http-exchange.ts'
import { type AccessTokens, fixedToken } from './access-token.ts'
import { API_VERSION, versionOf } from './documents.ts'
import {
  done,
  failed,
  throttleMs,
  shopBase,
  type ShopifyFailure,
  type ShopifyResult,
  TEMPORARY_STATUSES
} from './result.ts'
import { Message, Name } from '../foreign-texts.ts'

export type ShopifyOptions = {
  /** A bare domain (https) or a whole URL. */
  shopUrl: string
  /** A permanent token, or a source of tokens that expire. */
  accessToken: string | AccessTokens
  fetch?: typeof fetch
  /** For one HTTP exchange, without waits for the platform's budget. Default 15 s. */
  timeoutMs?: number
  sleep?: (ms: number) => Promise<unknown>
  /** Called with the API version of each reply; null if it names none. */
  onVersion?: (version: string | null) => void
}

/** Sends one document and reads `data` with the schema. */
export type Execute = <T>(
  document: string,
  variables: Record<string, unknown>,
  schema: z.ZodType<T>
) => Promise<ShopifyResult<T>>

const maxThrottledTries = 6
/** Total wait of a call. If the platform requests more, the call fails at once, and the caller's job retries. */
const PATIENCE_MS = 60_000

const GraphqlError = z.object({
  message: Message,
  locations: z.array(z.unknown()).optional(),
  path: z.array(z.unknown()).nullish(),
  extensions: z.object({ code: Name.optional() }).optional()
})
type GraphqlError = z.infer<typeof GraphqlError>

const Reply = z.object({
  data: z.unknown().optional(),
  errors: z.union([Message, z.array(GraphqlError)]).optional(),
  // The cost only determines the wait, so an unknown shape does not invalidate the reply.
  extensions: z
    .object({
      cost: z.object({
        requestedQueryCost: z.number(),
        throttleStatus: z.object({ currentlyAvailable: z.number(), restoreRate: z.number() })
      })
    })
    .optional()
    .catch(undefined)
})

/** `waitMs`: the wait that the platform requests. */
type Exchange =
  /** `denied`: fields of `WITHHELD` that the app may not read are left out. */
  | { kind: 'reply'; data: unknown; denied?: ShopifyFailure }
  | { kind: 'throttled'; waitMs: number }
  | { kind: 'refused'; failure: ShopifyFailure }
  /** The token lacks a permission, and nothing was changed. */
  | { kind: 'denied'; failure: ShopifyFailure }
  | ShopifyFailureKind
type ShopifyFailureKind = { kind: 'failure'; failure: ShopifyFailure }

const refused = failed(
  'unauthorized',
  'The e-commerce platform refused the access token. Check it under Web Settings, Shopify.'
)

const failure = (...args: Parameters<typeof failed>): ShopifyFailureKind => ({
  kind: 'failure',
  failure: failed(...args)
})

const inactive = failure(
  'inactive',
  'The shop is frozen or locked on the e-commerce platform. Check its account there.'
)

/**
 * The platform's GraphQL endpoint as a function. Throttled calls wait as the platform requests and retry, at most 6
 * times and a minute in all. A call whose token is refused, or lacks a permission, retries once with the next one.
 */
export function createTransport(options: ShopifyOptions): Execute {
  const { shopUrl, accessToken, fetch: request = fetch, timeoutMs = 15_000, sleep = ms => wait(ms) } = options
  const base = shopBase(shopUrl)
  const tokens = typeof accessToken === 'string' ? fixedToken(accessToken) : accessToken

  async function call(token: string, document: string, variables: Record<string, unknown>): Promise<Exchange> {
    const reply = await exchange(
      'The e-commerce platform',
      `${base}/admin/api/${API_VERSION}/graphql.json`,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'x-shopify-access-token': token
        },
        body: JSON.stringify({ query: document, variables })
      },
      { fetch: request, timeoutMs }
    )
    if (!reply.ok) return failure(reply.reason, reply.message)
    options.onVersion?.(versionOf(reply.headers.get('x-shopify-api-version')))
    return readReply(reply, { base: base ?? '', isWrite: /^\s*mutation\b/.test(document) })
  }

  return async (document, variables, schema) => {
    if (!base) return failed('not_configured', 'Enter the shop address under Web Settings, Shopify.')
    const first = await tokens.current()
    if (!first.ok) return first
    let token = first.value
    let isRenewed = false
    let waitedMs = 0
    for (let attempt = 1; ; attempt++) {
      const outcome = await call(token, document, variables)
      if (outcome.kind === 'refused') {
        const next = isRenewed ? done(token) : await tokens.renewed(token)
        if (!next.ok) return next
        if (next.value === token) {
          await tokens.refused(token, outcome.failure.message)
          return outcome.failure
        }
        isRenewed = true
        token = next.value
        continue
      }
      if (outcome.kind === 'denied') {
        const next = isRenewed ? done(token) : await tokens.withNewScopes(token)
        if (!next.ok || next.value === token) return outcome.failure
        isRenewed = true
        token = next.value
        continue
      }
      if (outcome.kind === 'failure') return outcome.failure
      if (outcome.kind === 'throttled') {
        const waitMs = Math.max(outcome.waitMs, 250 * 2 ** (attempt - 1))
        if (attempt >= maxThrottledTries || waitedMs + waitMs > PATIENCE_MS)
          return failed(
            'throttled',
            `The e-commerce platform limits the request rate. Try again in ${Math.ceil(waitMs / 1000)} s.`
          )
        waitedMs += waitMs
        await sleep(waitMs)
        continue
      }
      const read = schema.safeParse(outcome.data)
      if (read.success) return done(read.data)
      if (outcome.denied) return outcome.denied
      const where = read.error.issues[0]?.path.join('.') ?? ''
      return failed('bad_reply', `The e-commerce platform sent an unexpected reply${where ? ` at ${where}` : ''}.`)
    }
  }
}

/** A mutation is 'rejected' only if it certainly changed nothing. */
function readReply({ status, headers, text }: HttpReply, about: { base: string; isWrite: boolean }): Exchange {
  const { base, isWrite } = about
  if (status === 401 || status === 403) return { kind: 'refused', failure: refused }
  if (status === 429) return { kind: 'throttled', waitMs: throttleMs(headers) }
  if (status === 402 || status === 423) return inactive
  if (status >= 500) return failure('server_error', `The e-commerce platform has an internal error (HTTP ${status}).`)
  if (status === 404)
    return failure('not_found', `There is no shop at ${base}. Check the shop address under Web Settings, Shopify.`)
  if (status >= 300 && status < 400)
    return failure('bad_reply', `${base} redirects elsewhere. Enter the shop's own myshopify.com address.`)
  if (status !== 200) {
    const reason = TEMPORARY_STATUSES.has(status) || (isWrite && status !== 400) ? 'server_error' : 'rejected'
    return failure(reason, `The e-commerce platform refused the call (HTTP ${status}).`)
  }
  const reply = Reply.safeParse(parseJson(text))
  if (!reply.success) return failure('bad_reply', `What responds at ${base} is not the e-commerce platform's API.`)
  const { errors, data, extensions } = reply.data
  if (errors === undefined || errors.length === 0) return { kind: 'reply', data }
  const list: GraphqlError[] = typeof errors === 'string' ? [{ message: errors }] : errors
  const code = (name: string) => list.some(error => error.extensions?.code === name)
  if (code('THROTTLED')) return { kind: 'throttled', waitMs: budgetWaitMs(extensions?.cost) }
  if (isWrite && !list.every(error => isWithheld(error) || isBeforeExecution(error, data)))
    return failure('server_error', `The e-commerce platform responded: ${list.map(error => error.message).join('; ')}`)
  if (code('ACCESS_DENIED')) {
    const denied = failed('unauthorized', `The access token lacks a permission: ${list[0]?.message ?? ''}`)
    // A write of which a field below was denied has been executed.
    if (!list.every(isWithheld))
      return { kind: isWrite && list.some(isWithheld) ? 'failure' : 'denied', failure: denied }
    for (const { path } of list) leaveOut(data, path ?? [])
    return { kind: 'reply', data, denied }
  }
  if (code('SHOP_INACTIVE')) return inactive
  // Other errors are not about our query, so a retry may help.
  if (!list.some(isAboutCall))
    return failure('server_error', `The e-commerce platform has an internal error: ${list[0]?.message ?? ''}`)
  return failure('rejected', `The e-commerce platform refused the call: ${list.map(error => error.message).join('; ')}`)
}

const NOT_EXECUTED: readonly unknown[] = [
  'ACCESS_DENIED',
  'SHOP_INACTIVE',
  'MAX_COST_EXCEEDED',
  'MAX_INPUT_SIZE_EXCEEDED'
]

/**
 * Did the platform refuse the call before it executed it? The `path` of an error of the execution begins with a field
 * of the answer, and that of a faulty document with 'query …', 'mutation …' or 'fragment …'.
 */
function isBeforeExecution({ path, locations, extensions }: GraphqlError, data: unknown): boolean {
  const [first = 'query'] = path ?? []
  const isOfDocument = typeof first === 'string' && /^(query|mutation|fragment)\b/.test(first)
  // A mutation is denied at its own field. A denied field below it says that the mutation was executed.
  if (NOT_EXECUTED.includes(extensions?.code)) return isOfDocument || path?.length === 1
  // Codes of faulty documents are written like 'undefinedField'.
  const isFault = extensions?.code === undefined || isCodeOfDocument(extensions.code)
  return data === undefined && isOfDocument && isFault && locations !== undefined
}

const isCodeOfDocument = (code: string): boolean => /^(INVALID_VARIABLE|[a-z]\w*)$/.test(code)

/** Optional fields, without which the rest of an answer is still useful. */
const WITHHELD: readonly unknown[] = ['email', 'defaultEmailAddress', 'emailAddress', 'publishedAt']

const isWithheld = ({ path, extensions }: GraphqlError): boolean =>
  extensions?.code === 'ACCESS_DENIED' && WITHHELD.includes(path?.at(-1))

/**
 * Removes a field, because null would mean that there is no value. If the field cannot be null, the platform answers
 * null for what contains it.
 */
function leaveOut(data: unknown, path: readonly unknown[]): void {
  const [key, ...rest] = path
  if (typeof data !== 'object' || data === null) return
  const fields = data as Record<string, unknown>
  const inner = fields[String(key)]
  if (rest.length === 0 || inner === null) delete fields[String(key)]
  else leaveOut(inner, rest)
}

/** Does the error point to something in the call? Codes such as TIMEOUT or RESOURCE_LOCKED do not. */
const isAboutCall = ({ extensions, locations }: GraphqlError): boolean =>
  extensions?.code === undefined
    ? locations !== undefined
    : NOT_EXECUTED.includes(extensions.code) || isCodeOfDocument(extensions.code)

function budgetWaitMs(cost: NonNullable<z.infer<typeof Reply>['extensions']>['cost'] | undefined): number {
  if (!cost || cost.throttleStatus.restoreRate <= 0) return 1000
  const missing = cost.requestedQueryCost - cost.throttleStatus.currentlyAvailable
  return Math.ceil((Math.max(0, missing) / cost.throttleStatus.restoreRate) * 1000)
}
