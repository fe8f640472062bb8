import type { BodyOf, ParamsOf, QueryOf, ReplyOf, Route, Shortage } from '@netlet/contract'

/** `code` of a success. The contract's own constant would bring its validation library into every page. */
const SUCCESS = 2000
const TIMEOUT = 20_000

/** What the browser keeps of a route; the rest of it is types. */
export type Endpoint = Pick<Route, 'method' | 'path' | 'permission'>

/** What may be left out is what the contract declares empty (a record of never) or wholly optional. */
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
  /** Takes a body as a success although its code is another one. */
  accept?: (body: Record<string, unknown>) => boolean
}
export type CallArguments<T> =
  object extends Input<T> ? [input?: Input<T>, options?: CallOptions] : [input: Input<T>, options?: CallOptions]

/** What the server tells of a refusal beside its sentence. */
export type RefusalData = {
  reason?: string
  params?: Params
  /** Each field that is wrong, with its sentence; and with the key of that sentence. */
  errors?: Record<string, string>
  field_reasons?: Record<string, { reason: string; params?: Params }>
  /** Of a stale edit: the row as it is now. */
  current?: Record<string, unknown>
} & Partial<Shortage>
type Params = Record<string, string | number>

export type FailureKind = 'refused' | 'network' | 'timeout' | 'format'

/** A call that did not succeed. `message` is the server's `msg`, '' where it sent none; `status` is 0 without an answer. */
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
/** What happens when the server answers that nobody is signed in. */
export function onUnauthorized(handler: () => void): void {
  unauthorized = handler
}

let held: Promise<unknown> | undefined
/** Has the calls that begin meanwhile wait until `work` has ended; one whose signal is aborted by then is not made. */
export async function holdCallsDuring(work: Promise<unknown>): Promise<void> {
  held = work
  try {
    await work
  } finally {
    if (held === work) held = undefined
  }
}

/** The address of a call. Empty query values are left out. */
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

/** The `data` of an answer, or the ApiError that it stands for. */
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

/** Makes one call of the contract. Resolves to `data`; throws ApiError, or the signal's reason when it was aborted. */
export async function call<T extends Endpoint>(route: T, ...rest: CallArguments<T>): Promise<ReplyOf<T>> {
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
