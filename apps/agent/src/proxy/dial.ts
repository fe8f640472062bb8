import type { Socket } from 'node:net'
import { type Address, formatV4, parseAddress } from '../net/ip.ts'
import type { Lease } from './authority.ts'
import type { Plane } from './plane.ts'
import { Remote } from './remote.ts'

/** Why a request does not reach its target, as the client is told. `code` stands in the access log. */
export type Refused = {
  status: 403 | 502 | 504
  code: 'denied-domain' | 'denied-address' | 'refused-range' | 'refused-port' | DialFault
  text: string
}
type DialFault = 'not-found' | 'dns-timeout' | 'refused' | 'unreachable' | 'connect-timeout' | 'no-egress'

const faults: Record<DialFault, { status: 502 | 504; text: string }> = {
  'not-found': { status: 502, text: 'The name does not resolve' },
  'dns-timeout': { status: 504, text: 'The name did not resolve in time' },
  refused: { status: 502, text: 'The target refused the connection' },
  unreachable: { status: 502, text: 'The target cannot be reached' },
  'connect-timeout': { status: 504, text: 'The target did not answer in time' },
  'no-egress': { status: 502, text: 'The leased address cannot be used on this server at present' }
}
const fault = (code: DialFault): Refused => ({ code, ...faults[code] })

/** What a connection leaves from: the address that the client came in on. */
export type Egress = { text: string; address: Address }

export type Dialing = { tick: (now: number) => void; cancel: () => void }

/** The most addresses of one name that are tried. */
const maxTries = 3
const maxPortRetries = 3

/** Judges a name and a port before anything is resolved or dialled; null where they are open. */
export function judgeTarget(plane: Plane, lease: Lease, host: string, port: number): Refused | null {
  if (lease.deny.deniesName(host) || plane.authority.blacklist.deniesName(host)) {
    return { status: 403, code: 'denied-domain', text: `Domain not included in this proxy's plan: ${host}` }
  }
  if (plane.destinations.portDenied(port))
    return { status: 403, code: 'refused-port', text: `Port ${port} is closed here` }
  return null
}

function judgeAddress(plane: Plane, lease: Lease, address: Address, port: number): Refused | null {
  if (!plane.destinations.allows(address, port)) {
    return { status: 403, code: 'refused-range', text: 'This destination cannot be reached through the proxy' }
  }
  if (lease.deny.deniesAddress(address) || plane.authority.blacklist.deniesAddress(address)) {
    return { status: 403, code: 'denied-address', text: "Address not included in this proxy's plan" }
  }
  return null
}

/**
 * Resolves, judges every address that comes back, and connects from the leased address to exactly one that was judged.
 * A name of which any address is refused is refused as a whole: such an answer is an attempt, not a mistake. The
 * caller ticks the result, so that attempts end in time, and may cancel it; `done` is not called after that.
 */
export function dial(
  plane: Plane,
  lease: Lease,
  egress: Egress,
  host: string,
  port: number,
  done: (result: Remote | Refused) => void
): Dialing {
  let cancelled = false
  let expires = Infinity
  let expire = (): void => {}
  let current: Socket | null = null
  const finish = (result: Remote | Refused): void => {
    if (cancelled) return
    cancelled = true
    done(result)
  }
  const family = egress.address.v4 >= 0 ? 4 : 6

  const proceed = (texts: readonly string[]): void => {
    if (cancelled) return
    const targets: string[] = []
    for (const text of texts) {
      const address = parseAddress(text)
      if (address === null) continue
      const refused = judgeAddress(plane, lease, address, port)
      if (refused !== null) return finish(refused)
      if (address.v4 >= 0 === (family === 4)) targets.push(address.v4 >= 0 ? formatV4(address.v4) : text)
    }
    attempt(targets.slice(0, maxTries), 0, 0, 'unreachable')
  }

  const attempt = (targets: readonly string[], index: number, retries: number, last: DialFault): void => {
    const target = targets[index]
    if (cancelled) return
    if (target === undefined) return finish(fault(last))
    const remote = new Remote(target, port, family, egress.text)
    const { socket } = remote
    current = socket
    const failed = (code: string): void => {
      socket.destroy()
      // The kernel picked a local port that still waits for this very target to end: another one will do.
      if (code === 'EADDRNOTAVAIL' && retries < maxPortRetries) return attempt(targets, index, retries + 1, last)
      attempt(targets, index + 1, 0, faultOf(code))
    }
    const onError = (error: NodeJS.ErrnoException): void => failed(error.code ?? '')
    socket.once('error', onError)
    expires = plane.now + plane.limits.connectMs
    expire = () => {
      socket.off('error', onError)
      socket.on('error', () => {})
      failed('ETIMEDOUT')
    }
    socket.once('connect', () => {
      socket.off('error', onError)
      expires = Infinity
      finish(remote)
    })
  }

  const literal = parseAddress(host)
  if (literal !== null) proceed([host])
  else if (looksNumeric(host)) finish(fault('not-found'))
  else {
    plane.resolve(host, family, resolved => {
      if (cancelled) return
      if (resolved.ok) proceed(resolved.addresses)
      else finish(fault(resolved.reason === 'timeout' ? 'dns-timeout' : 'not-found'))
    })
  }
  return {
    tick: now => {
      if (now > expires) expire()
    },
    cancel: () => {
      cancelled = true
      current?.on('error', () => {})
      current?.destroy()
    }
  }
}

/** `127.1`, `0x7f000001`, `2130706433`: other spellings of addresses, which no public name can be (RFC 3696). */
const looksNumeric = (host: string): boolean => /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(host)

function faultOf(code: string): DialFault {
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ETIMEDOUT') return 'connect-timeout'
  return code === 'EADDRNOTAVAIL' || code === 'EINVAL' ? 'no-egress' : 'unreachable'
}
