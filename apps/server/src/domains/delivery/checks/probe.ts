import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export type ProxyAddress = { ip: string; port: number; username: string; password: string }

/** Statuses with which a proxy says that it did not reach the site. */
const REFUSALS = new Set([403, 407, 502, 503, 504])

/**
 * Asks for a page through a proxy.
 * @param ca authorities for https besides the system's own
 * @returns milliseconds until the site's answer began; null if none came within `timeoutMs`
 */
export async function probe(
  proxy: ProxyAddress,
  site: URL,
  { timeoutMs, ca }: { timeoutMs: number; ca?: string }
): Promise<number | null> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), timeoutMs)
  const begun = performance.now()
  try {
    const secure = site.protocol === 'https:'
    const status = await (secure
      ? throughTunnel(proxy, site, abort.signal, ca)
      : asPlainProxy(proxy, site, abort.signal))
    // Through a tunnel only the site itself can answer; a plain answer may be the proxy's own.
    if (!secure && REFUSALS.has(status)) return null
    return Math.max(1, Math.round(performance.now() - begun))
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}

const AGENT_NAME = 'Mozilla/5.0 (compatible; connectivity check)'

const credentials = ({ username, password }: ProxyAddress) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

function asPlainProxy(proxy: ProxyAddress, site: URL, signal: AbortSignal): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = httpRequest({
    host: proxy.ip,
    port: proxy.port,
    path: site.href,
    headers: {
      host: site.host,
      'proxy-authorization': credentials(proxy),
      'user-agent': AGENT_NAME,
      connection: 'close'
    },
    agent: false,
    signal
  })
  request.on('response', response => resolve(statusOf(response)))
  request.on('error', reject)
  request.end()
  return promise
}

async function throughTunnel(proxy: ProxyAddress, site: URL, signal: AbortSignal, ca?: string): Promise<number> {
  const socket = await openTunnel(proxy, site, signal)
  try {
    return await askThrough(socket, site, signal, ca)
  } finally {
    socket.destroy()
  }
}

function askThrough(socket: Socket, site: URL, signal: AbortSignal, ca?: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = httpsRequest({
    host: site.hostname,
    path: `${site.pathname}${site.search}`,
    headers: { host: site.host, 'user-agent': AGENT_NAME, connection: 'close' },
    signal,
    createConnection: () => connectTls({ socket, servername: site.hostname, ...(ca ? { ca } : {}) })
  })
  request.on('response', response => resolve(statusOf(response)))
  request.on('error', reject)
  request.end()
  return promise
}

function openTunnel(proxy: ProxyAddress, site: URL, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const authority = `${site.hostname}:${site.port || 443}`
  const request = httpRequest({
    host: proxy.ip,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, 'proxy-authorization': credentials(proxy) },
    agent: false,
    signal
  })
  request.on('connect', (response: IncomingMessage, socket: Socket) => {
    if (response.statusCode === 200) return resolve(socket)
    socket.destroy()
    reject(new Error(`the proxy refused: ${response.statusCode}`))
  })
  request.on('response', response => reject(new Error(`the proxy refused: ${statusOf(response)}`)))
  request.on('error', reject)
  request.end()
  return promise
}

/** Only the head matters, so the body is not awaited. */
function statusOf(response: IncomingMessage): number {
  response.on('error', () => {})
  response.destroy()
  return response.statusCode ?? 0
}
