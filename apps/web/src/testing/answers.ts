/** Answers components' calls by replacing `fetch`. */
import {
  refusals,
  refuse,
  routes,
  sentenceOf,
  SUCCESS,
  type Params,
  type Reason,
  type Refusal,
  type ReplyOf,
  type Route
} from '@netlet/contract'
import type { Endpoint } from '../api/client.ts'

export type Recorded = { params: Record<string, string>; query: Record<string, string>; body: unknown }
type Answer = (request: Recorded) => Promise<Response>

const all: Route[] = Object.values(routes).flatMap(calls => Object.values(calls) as Route[])
const keyOf = ({ method, path }: Endpoint) => `${method} ${path}`
const byKey = new Map(all.map(route => [keyOf(route), route]))

const answers = new Map<string, Answer>()
const recorded = new Map<string, Recorded[]>()
const problems: string[] = []

const contractOf = (route: Endpoint): Route => {
  const found = byKey.get(keyOf(route))
  if (!found) throw new Error(`The contract has no call ${keyOf(route)}`)
  return found
}

/**
 * Answers a call with `data`, or with the result of `data(request)`.
 * @throws if the contract does not allow this reply, so that test data cannot drift from the real shape
 */
export function answer<T extends Endpoint>(route: T, data: ReplyOf<T> | ((request: Recorded) => ReplyOf<T>)): void {
  const contract = contractOf(route)
  if (typeof data === 'function')
    answers.set(keyOf(route), request => {
      const reply: unknown = (data as (request: Recorded) => ReplyOf<T>)(request)
      return Promise.resolve(success(contract, checked(contract, reply)))
    })
  else {
    const reply = checked(contract, data)
    answers.set(keyOf(route), () => Promise.resolve(success(contract, reply)))
  }
}

type Details = { params?: Params; msg?: string; data?: object }

/** Refuses a call as the server does, with the reason's status, code and sentence. */
export function answerRefused(route: Endpoint, reason: Reason, more: Details = {}): void {
  contractOf(route)
  answers.set(keyOf(route), () => Promise.resolve(refusal(refuse(reason, more))))
}

/** Fails a call with a network error. */
export function answerLost(route: Endpoint): void {
  contractOf(route)
  answers.set(keyOf(route), () => Promise.reject(new TypeError('Failed to fetch')))
}

/** Holds a call until the returned function is called with its answer. */
export function hold<T extends Endpoint>(route: T): (data: ReplyOf<T>) => void {
  const release = holdUntil(route)
  return data => {
    answer(route, data)
    release(() => success(contractOf(route), data))
  }
}

/** Holds a call until the returned function refuses it. */
export function holdRefused(route: Endpoint, reason: Reason, more: Details = {}): () => void {
  const release = holdUntil(route)
  return () => release(() => refusal(refuse(reason, more)))
}

/** Each waiting call gets a response of its own, because a body is read once. */
function holdUntil(route: Endpoint): (respond: () => Response) => void {
  const { promise, resolve } = Promise.withResolvers<() => Response>()
  answers.set(keyOf(contractOf(route)), async () => (await promise)())
  return resolve
}

/** The requests of a call so far, oldest first. */
export const requestsOf = (route: Endpoint): Recorded[] => recorded.get(keyOf(contractOf(route))) ?? []

/** Replaces `fetch`. */
export async function serve(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input, 'http://netlet.test')
  const method = init.method ?? 'GET'
  const found = match(method, url.pathname)
  if (!found) {
    problems.push(`The contract has no call ${method} ${url.pathname}`)
    throw new TypeError('Failed to fetch')
  }
  const request: Recorded = {
    params: found.params,
    query: Object.fromEntries(url.searchParams),
    body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined
  }
  const key = keyOf(found.route)
  recorded.set(key, [...(recorded.get(key) ?? []), request])
  const invalid = refusedByContract(found.route, request) ?? refusedWithoutKey(found.route, init)
  if (invalid) return refusal(invalid)
  const respond = answers.get(key)
  if (!respond) {
    problems.push(`Nothing answers ${method} ${url.pathname}`)
    throw new TypeError('Failed to fetch')
  }
  return aborting(respond(request), init.signal)
}

/** Forgets all answers. @returns unanswered calls, for which the test must fail */
export function resetAnswers(): string[] {
  answers.clear()
  recorded.clear()
  return problems.splice(0)
}

function aborting(work: Promise<Response>, signal: AbortSignal | null | undefined): Promise<Response> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    work.then(resolve, reject)
  })
}

/** The route of a path. If several match, the one with the fewest parameters. */
function match(method: string, pathname: string): { route: Route; params: Record<string, string> } | undefined {
  const found = all.flatMap(route => {
    if (route.method !== method) return []
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '')
    const values = new RegExp(`^${route.path.replace(/:\w+/g, '([^/]+)')}$`).exec(pathname)?.slice(1)
    if (!values) return []
    return [{ route, params: Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(values[i] ?? '')])) }]
  })
  return found.toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0]
}

/** The refusal that the server gives before any command runs. */
function refusedByContract(route: Route, request: Recorded): Refusal | undefined {
  for (const part of ['params', 'query', 'body'] as const) {
    const parsed = route[part]?.safeParse(request[part])
    if (!parsed || parsed.success) continue
    const errors: Record<string, string> = {}
    for (const issue of parsed.error.issues) errors[issue.path.join('.') || part] ??= issue.message
    return refuse('invalid', { msg: Object.values(errors)[0] ?? 'invalid', data: { errors } })
  }
  return undefined
}

const refusedWithoutKey = ({ idempotencyKey }: Route, init: RequestInit): Refusal | undefined =>
  idempotencyKey === 'required' && !new Headers(init.headers).has('idempotency-key')
    ? refuse('idempotency_key_invalid', { params: { max: 200 } })
    : undefined

function checked(route: Route, reply: unknown): unknown {
  const parsed = route.reply.safeParse(reply)
  if (!parsed.success) throw new Error(`Not a reply of ${keyOf(route)}: ${parsed.error.message}`)
  // A schema strips unknown fields, so the server never sends them.
  const sent = JSON.stringify(reply)
  if (JSON.stringify(parsed.data)?.length !== sent?.length)
    throw new Error(`${keyOf(route)} replies ${JSON.stringify(parsed.data)}, not ${sent}`)
  return reply
}

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

const success = (route: Route, data: unknown): Response =>
  route.raw ? new Response(String(data)) : json(200, { code: SUCCESS, data, msg: '' })

function refusal(refused: Refusal): Response {
  const [status] = refusals[refused.reason]
  const { reason, params, data } = refused
  return json(status, {
    code: status,
    data: { reason, ...(params ? { params } : {}), ...data },
    msg: sentenceOf(refused)
  })
}
