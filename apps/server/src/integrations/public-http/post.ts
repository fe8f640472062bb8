import { type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { type LookupFunction, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { answered, resolverOf } from '../name-servers.ts'

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

/** Looks public, but in Azure every machine reaches services of its host there. */
const METADATA = new Set(['168.63.129.16'])
/** The IPv6 range of global unicast (IANA). Everything else is local, translated or reserved. */
const GLOBAL_V6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * Is this the address of a machine on the internet? Excludes this machine, its networks, cloud metadata, documentation
 * and test ranges, and addresses that stand for others (IPv4-mapped, NAT64, 6to4, Teredo).
 * @param text as a resolver returns it; an invalid address is not public
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast' || METADATA.has(address.toString())) return false
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_V6)
}

/** Is this an address of this machine, public or not? */
const isThisMachine = (text: string): boolean =>
  Object.values(networkInterfaces()).some(list =>
    list?.some(({ address }) => normal(address) !== null && normal(address) === normal(text))
  )

const normal = (text: string): string | null =>
  ipaddr.isValid(text) ? ipaddr.parse(text.replace(/%.*$/, '')).toNormalizedString() : null

/** Ports of web servers beside the standard one. Other ports would allow port scans and other protocols. */
const PORTS: Record<string, readonly string[]> = { 'https:': ['', '8443'], 'http:': ['', '8080'] }

/** Why a target is forbidden. */
type ForbiddenTarget = 'not_https' | 'port' | 'not_public' | 'own_address'

export type PublicHttpPolicy = {
  /** Is http: allowed too? */
  allowHttp: boolean
  /** Prefixes such as 'http://127.0.0.1:4000/' from the operator's environment. Addresses with one are not checked. */
  allowedUrls: readonly string[]
  /** Hosts of our own public address. */
  ownHosts: readonly string[]
  /** Are some of these addresses our own (servers, ranges)? Called before each connection. */
  areOwn(addresses: readonly string[]): Promise<boolean>
}

/** The host of a URL without the brackets of IPv6. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/**
 * Checks a target's scheme, port and IP address. A name is checked at each use, because its addresses may change.
 * @param url an http: or https: address
 */
export function forbiddenTarget(url: URL, policy: Omit<PublicHttpPolicy, 'areOwn'>): ForbiddenTarget | null {
  if (isNamed(url, policy)) return null
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowHttp)) return 'not_https'
  if (!PORTS[url.protocol]?.includes(url.port)) return 'port'
  const host = hostOf(url)
  if (isIP(host) !== 0) return forbiddenAddress(host)
  if (policy.ownHosts.includes(host.replace(/\.$/, ''))) return 'own_address'
  // Resolvers answer these names without DNS.
  return /(^|\.)localhost\.?$/i.test(host) ? 'not_public' : null
}

/** Does the environment allow this address? */
const isNamed = (url: URL, { allowedUrls }: Pick<PublicHttpPolicy, 'allowedUrls'>): boolean =>
  allowedUrls.some(beginning => url.href.startsWith(beginning))

/** Why this IP address is forbidden, judged by the address alone. */
function forbiddenAddress(address: string): 'not_public' | 'own_address' | null {
  if (!isPublicAddress(address)) return 'not_public'
  return isThisMachine(address) ? 'own_address' : null
}

/** All addresses of a host; empty if it has none or DNS fails. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>

/**
 * Queries DNS servers for the IPv4 and IPv6 addresses of a name.
 * @param servers as in `DNS_SERVERS`; empty for those of the machine
 * @returns null if DNS fails
 */
export async function resolvePublicHost(
  host: string,
  signal: AbortSignal,
  servers: readonly string[] = []
): Promise<string[] | null> {
  if (isIP(host) !== 0) return [host]
  const resolver = resolverOf(servers, 2000)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const [v4, v6] = await Promise.all([answered(resolver.resolve4(host)), answered(resolver.resolve6(host))])
    const found = [...(v4 ?? []), ...(v6 ?? [])]
    return found.length === 0 && (v4 === null || v6 === null) ? null : found
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

const resolvePublicly: Resolve = async (host, signal) => (await resolvePublicHost(host, signal)) ?? []
