import { randomBytes } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { SEEN_FROM_PATH } from '@netlet/contract'
import type { Secrets } from '../../infra/secrets.ts'

/** Signs the address that a call with this mark came from, so that no proxy on the way can forge another. */
export const signatureOf = (secrets: Secrets, seen: Seen): string => secrets.mac(signed(seen)).toString('base64url')

type Seen = { mark: string; address: string }

const signed = ({ mark, address }: Seen): string => `seen from ${mark} ${address}`

/** A proxy's address and a login for it. Never logged. */
export type Point = { address: string; port: number; username: string; password: string }

/** More than an address and its signature take. */
const MOST_BYTES = 4096

/**
 * Asks a proxy for a tunnel to the check site.
 * @returns the status of its answer; 0 if none came in time
 */
export async function requestTunnel(point: Point, site: URL, timeoutMs: number): Promise<number> {
  const { status, socket } = await openTunnel(point, site, AbortSignal.timeout(timeoutMs))
  socket?.destroy()
  return status
}

/**
 * Asks the check site through a proxy which address it sees.
 * @returns `seen` is null if the proxy opened no tunnel (`status` says why) or the site gave no proper answer
 */
export async function checkThroughProxy(
  point: Point,
  site: URL,
  { signal, secrets }: { signal: AbortSignal; secrets: Secrets }
): Promise<{ status: number; seen: string | null }> {
  const { status, socket } = await openTunnel(point, site, signal)
  if (!socket) return { status, seen: null }
  try {
    return { status, seen: await fetchSeenAddress(site, secrets, { socket, signal }) }
  } catch {
    return { status, seen: null }
  } finally {
    socket.destroy()
  }
}

/** Asks the check site without a proxy. @returns null if it does not answer */
export const checkDirectly = (site: URL, secrets: Secrets, signal: AbortSignal): Promise<string | null> =>
  fetchSeenAddress(site, secrets, { signal }).catch(() => null)

type Way = { socket?: Socket; signal: AbortSignal }

async function fetchSeenAddress(site: URL, secrets: Secrets, way: Way): Promise<string | null> {
  const mark = randomBytes(16).toString('hex')
  const isOurs = site.pathname === SEEN_FROM_PATH
  const text = await read(isOurs ? new URL(`?mark=${mark}`, site) : site, way)
  const address = isOurs ? signedAddress(text, secrets, mark) : plainAddress(text)
  // Only addresses are stored, whatever the site sends.
  return typeof address === 'string' && isIP(address) > 0 ? address : null
}

function signedAddress(text: string, secrets: Secrets, mark: string): unknown {
  const { data } = JSON.parse(text) as { data?: { address?: unknown; signature?: unknown } }
  if (typeof data?.address !== 'string') return null
  // A man in the middle cannot sign another address.
  const macs = secrets.macs(signed({ mark, address: data.address }))
  return macs.some(mac => data.signature === mac.toString('base64url')) ? data.address : null
}

/** What other sites answer: an address alone, or an object with `ip`. */
function plainAddress(text: string): unknown {
  const trimmed = text.trim()
  return trimmed.startsWith('{') ? (JSON.parse(trimmed) as { ip?: unknown }).ip : trimmed
}

function read(site: URL, { socket, signal }: Way): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const secure = site.protocol === 'https:'
  const request = (secure ? httpsRequest : httpRequest)({
    host: site.hostname,
    port: site.port || (secure ? 443 : 80),
    path: `${site.pathname}${site.search}`,
    headers: { host: site.host, accept: 'application/json, text/plain', connection: 'close' },
    signal,
    // An HTTP agent would open a connection of its own.
    ...(socket
      ? { createConnection: () => (secure ? connectTls({ socket, servername: site.hostname }) : socket) }
      : { agent: false })
  })
  request.on('error', reject)
  request.on('response', response => {
    let text = ''
    response.setEncoding('utf8')
    response.on('error', reject)
    response.on('data', (part: string) => {
      text += part
      if (text.length > MOST_BYTES) request.destroy(new Error('the check site answers too much'))
    })
    response.on('end', () =>
      response.statusCode === 200 ? resolve(text) : reject(new Error('the check site refused'))
    )
    response.on('close', () => reject(new Error('the check site broke off')))
  })
  request.end()
  return promise
}

function openTunnel(
  { address, port, username, password }: Point,
  site: URL,
  signal: AbortSignal
): Promise<{ status: number; socket?: Socket }> {
  const { promise, resolve } = Promise.withResolvers<{ status: number; socket?: Socket }>()
  const authority = `${site.hostname}:${site.port || (site.protocol === 'https:' ? 443 : 80)}`
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  const request = httpRequest({
    host: address,
    port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, 'proxy-authorization': `Basic ${credentials}` },
    agent: false,
    signal
  })
  request.on('connect', ({ statusCode = 0 }: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {})
    if (statusCode === 200) return resolve({ status: statusCode, socket })
    socket.destroy()
    resolve({ status: statusCode })
  })
  request.on('response', response => {
    response.on('error', () => {})
    response.destroy()
    resolve({ status: response.statusCode ?? 0 })
  })
  request.on('error', () => resolve({ status: 0 }))
  request.end()
  return promise
}
