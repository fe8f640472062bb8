import type { BodyOf, ParamsOf, QueryOf, ReplyOf, Route, Shortage } from '@netlet/contract'

/** `code` of a success. Importing the contract's constant would pull its validation library into every page. */
const SUCCESS = 2000
const TIMEOUT = 20_000

/** The part of a route that the browser needs at run time. The rest is types. */
export type Endpoint = Pick<Route, 'method' | 'path' | 'permission'>

/** A part can be omitted if the contract declares it empty (a record of never) or if all its fields are optional. */
type Optional<V> = string extends keyof V ? true : object extends V ? true : undefined extends V ? true : false
type Part<K extends string, V> = [V] extends [undefined]
  ? unknown
  : Optional<V> extends true
    ? { [k in K]?: V }
    : { [k in K]: V }
export type Input<T> = Part<'params', ParamsOf<T>> & Part<'query', QueryOf<T>> & Part<'body', BodyOf<T>>

type AnyInput = { params?: object; query?: object; body?: unknown }
export type CallOptions = {
  signal?: AbortSignal
  /** Milliseconds. */
  timeout?: number
  headers?: Record<string, string>
  /** Accepts a body as a success although its code says otherwise. */
  accept?: (body: Record<string, unknown>) => boolean
}
export type CallArguments<T> =
  object extends Input<T> ? [input?: Input<T>, options?: CallOptions] : [input: Input<T>, options?: CallOptions]

/** What the server sends with a refusal besides its sentence. */
export type RefusalData = {
  reason?: string
  params?: Params
  /** The sentence for each wrong field; `field_reasons` has the keys of these sentences. */
  errors?: Record<string, string>
  field_reasons?: Record<string, { reason: string; params?: Params }>
  /** For a needed confirmation: how long it counts. */
  minutes?: number
  /** For a stale edit: the current row. */
  current?: Record<string, unknown>
} & Partial<Shortage>
type Params = Record<string, string | number>

export type FailureKind = 'refused' | 'network' | 'timeout' | 'format'

/** A failed call. `message` is the server's `msg`, '' if it sent none. `status` is 0 if there was no answer. */
export class ApiError extends Error {
  readonly kind: FailureKind
  readonly status: number
  readonly code: number
  readonly data: unknown

  constructor(kind: FailureKind, message: string, status = 0, code = status, data: unknown = null) {
    super(message)
    this.name = 'ApiError'
    this.kind = kind
    this.status = status
    this.code = code
    this.data = data
  }

  get refusal(): RefusalData {
    return typeof this.data === 'object' && this.data !== null ? this.data : {}
  }
}

let unauthorized = () => {}
/** Sets what to do when the server answers that the session is missing. */
export function onUnauthorized(handler: () => void): void {
  unauthorized = handler
}

type Confirmer = (minutes: number | undefined) => Promise<boolean>
let confirmer: Confirmer | undefined
/**
 * Sets how to confirm the session when the server asks for it. The call is then repeated; false: it was given up.
 * @returns takes the handler away
 */
export function onConfirmationNeeded(handler: Confirmer): () => void {
  confirmer = handler
  return () => {
    if (confirmer === handler) confirmer = undefined
  }
}

let held: Promise<unknown> | undefined
/** Delays new calls until `work` ends. A call whose signal is aborted in the meantime is not made. */
export async function holdCallsDuring(work: Promise<unknown>): Promise<void> {
  held = work
  try {
    await work
  } finally {
    if (held === work) held = undefined
  }
}

/** The URL of a call, without empty query values. */
export function address(path: string, params: object = {}, query: object = {}): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = Object.entries(params).find(([key]) => key === name)?.[1] as string | number | undefined
    if (value === undefined) throw new RangeError(`${path} needs ${name}`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query) as [string, string | number | boolean | null | undefined][])
    if (value !== undefined && value !== null && value !== '') search.set(key, String(value))
  const text = search.toString()
  return text ? `${filled}?${text}` : filled
}

/** Returns the `data` of an answer or throws its ApiError. */
export function unwrap(status: number, text: string, accept?: CallOptions['accept']): unknown {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new ApiError('format', '', status)
  }
  if (typeof body !== 'object' || body === null) throw new ApiError('format', '', status)
  const envelope = body as Record<string, unknown>
  if (envelope['code'] === SUCCESS || accept?.(envelope)) return envelope['data']
  const msg = typeof envelope['msg'] === 'string' ? envelope['msg'] : ''
  const code = typeof envelope['code'] === 'number' ? envelope['code'] : status
  throw new ApiError('refused', msg, status, code, envelope['data'])
}

/**
 * Makes one call, and repeats it once if the session had to be confirmed for it. Returns `data`; throws ApiError, or the
 * signal's reason if it was aborted.
 */
export async function call<T extends Endpoint>(route: T, ...rest: CallArguments<T>): Promise<ReplyOf<T>> {
  try {
    return await send(route, ...rest)
  } catch (error) {
    if (!(error instanceof ApiError) || error.refusal.reason !== 'confirmation_needed') throw error
    if (!(await confirmer?.(error.refusal.minutes))) throw error
    return send(route, ...rest)
  }
}

async function send<T extends Endpoint>(route: T, ...rest: CallArguments<T>): Promise<ReplyOf<T>> {
  const [input, { signal, timeout = TIMEOUT, accept, headers } = {}] = rest
  const { params, query, body } = (input ?? {}) as AnyInput
  const url = address(route.path, params, query)
  if (held) await held.catch(() => undefined)
  signal?.throwIfAborted()
  const limit = AbortSignal.timeout(timeout)
  let status: number
  let text: string
  try {
    const response = await fetch(url, {
      method: route.method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, limit]) : limit
    })
    status = response.status
    text = await response.text()
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(limit.aborted ? 'timeout' : 'network', '')
  }
  try {
    return unwrap(status, text, accept) as ReplyOf<T>
  } catch (error) {
    if (status === 401) unauthorized()
    throw error
  }
}
