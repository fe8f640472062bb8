import { request as requestHttp, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { resolvePublicly, type Resolve } from './resolve.ts'
import {
  forbiddenAddress,
  forbiddenTarget,
  isNamed,
  hostOf,
  type ForbiddenTarget,
  type PublicHttpPolicy
} from './target.ts'

/** An answer is read up to READ_BYTES, to see whether it is complete, but only KEPT_BYTES are kept. */
const KEPT_BYTES = 1000
const READ_BYTES = 64 * 1024

export type PublicReply = {
  ok: true
  status: number
  retryAfter: string | undefined
  answer: string
  durationMs: number
}
export type PublicFailure = {
  ok: false
  failure: ForbiddenTarget | 'unresolved' | 'timeout' | 'tls' | 'network' | 'cut_off'
  /** A code such as 'ECONNREFUSED'. */
  detail: string | null
  /** Set if an answer began before it was cut off. */
  status: number | null
  durationMs: number
}

export type PublicPost = {
  headers: Readonly<Record<string, string>>
  body: string
  policy: PublicHttpPolicy
  /** For the whole exchange, including DNS. */
  timeoutMs: number
  /** DNS and the address check, so that tests control the network. */
  resolve?: Resolve
  forbids?: typeof forbiddenAddress
}

/**
 * Posts to an address that a customer or an operator entered. The protections:
 * - The name is resolved once, and the connection uses one of the checked addresses, whatever DNS says later.
 * - One address that is not public forbids the whole name.
 * - There are no redirects, no proxy of the environment, no pooled connections, no cookies or credentials.
 * - Time and size of the answer are bounded: its first bytes are kept, and an endless one is not read further.
 * @param url http: or https:
 * @returns any answer with its status; failures are results without any data of the request
 */
export async function postToPublicAddress(url: URL, post: PublicPost): Promise<PublicReply | PublicFailure> {
  const started = performance.now()
  const since = () => Math.round(performance.now() - started)
  const signal = AbortSignal.timeout(post.timeoutMs)
  const allowed = await allowedAddresses(url, post, signal)
  if ('failure' in allowed) return { ok: false, ...allowed, status: null, durationMs: since() }
  const outcome = await exchange(url, post, { signal, lookup: allowed.lookup })
  return { ...outcome, durationMs: since() }
}

type Allowed = { lookup: LookupFunction | undefined } | Pick<PublicFailure, 'failure' | 'detail'>

/** A lookup function that returns only allowed addresses. */
async function allowedAddresses(
  url: URL,
  { policy, resolve = resolvePublicly, forbids = forbiddenAddress }: PublicPost,
  signal: AbortSignal
): Promise<Allowed> {
  const forbidden = forbiddenTarget(url, policy)
  if (forbidden) return { failure: forbidden, detail: null }
  if (isNamed(url, policy)) return { lookup: undefined }
  const found = await orTimeout(resolve(hostOf(url), signal), signal)
  if (found === null) return { failure: 'timeout', detail: 'DNS' }
  // Checks that the resolver returned IP addresses.
  const addresses = found.filter(address => isIP(address) !== 0)
  if (addresses.length === 0) return { failure: 'unresolved', detail: null }
  for (const address of addresses) {
    const failure = forbids(address)
    if (failure) return { failure, detail: address }
  }
  if (await policy.areOwn(addresses)) return { failure: 'own_address', detail: null }
  return { lookup: lookupAmong(addresses) }
}

async function orTimeout<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const aborted = new Promise<null>(resolve => signal.addEventListener('abort', () => resolve(null), { once: true }))
  return Promise.race([work.catch(() => null), aborted])
}

/** Returns these addresses for any name. Node never looks up a host that is an IP address. */
const lookupAmong =
  (addresses: readonly string[]): LookupFunction =>
  (_host, options, callback) => {
    const list = addresses.map(address => ({ address, family: isIP(address) }))
    if (options.all) return callback(null, list)
    const [first] = list
    return callback(null, first?.address ?? '', first?.family ?? 4)
  }

type Outcome = Omit<PublicReply, 'durationMs'> | Omit<PublicFailure, 'durationMs'>

function exchange(
  url: URL,
  { headers, body }: PublicPost,
  { signal, lookup }: { signal: AbortSignal; lookup: LookupFunction | undefined }
): Promise<Outcome> {
  const options: RequestOptions = {
    method: 'POST',
    // Neither pooled connections nor a proxy of the environment.
    agent: false,
    headers: {
      ...headers,
      'content-length': Buffer.byteLength(body),
      'accept-encoding': 'identity',
      connection: 'close'
    },
    maxHeaderSize: 16 * 1024,
    signal,
    ...(lookup ? { lookup } : {})
  }
  return new Promise(resolve => {
    let request: ClientRequest
    const fail = (error: unknown) => resolve({ ok: false, status: null, ...failureOf(error, signal) })
    try {
      request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options)
    } catch (error) {
      return fail(error)
    }
    request.on('error', fail)
    // Another protocol's answer ends without an error.
    request.on('close', () => resolve({ ok: false, failure: 'network', detail: 'no answer', status: null }))
    request.on('response', answer => {
      // From here on the answer decides the result.
      request
        .removeAllListeners('close')
        .removeAllListeners('error')
        .on('error', () => {})
      resolve(readAnswer(answer, signal).finally(() => request.destroy()))
    })
    request.end(body)
  })
}

async function readAnswer(answer: IncomingMessage, signal: AbortSignal): Promise<Outcome> {
  const status = answer.statusCode ?? 0
  const parts: Buffer[] = []
  let [kept, read] = [0, 0]
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      read += part.length
      if (kept < KEPT_BYTES) parts.push(part.subarray(0, KEPT_BYTES - kept))
      kept = Math.min(KEPT_BYTES, kept + part.length)
      if (read > READ_BYTES) break
    }
  } catch (error) {
    const { failure, detail } = failureOf(error, signal)
    return { ok: false, status, failure: failure === 'timeout' ? failure : 'cut_off', detail }
  }
  return {
    ok: true,
    status,
    retryAfter: answer.headers['retry-after'],
    answer: Buffer.concat(parts).toString('utf8')
  }
}

const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_|UNABLE_|EPROTO|ERR_CERT)/

function failureOf(error: unknown, signal: AbortSignal): Pick<PublicFailure, 'failure' | 'detail'> {
  if (signal.aborted) return { failure: 'timeout', detail: null }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  return { failure: code !== null && TLS.test(code) ? 'tls' : 'network', detail: code }
}
