import type { AgentCode } from '@netlet/contract/agent-codes'
import { type Address, formatV4, parseAddress } from '../net/ip.ts'
import type { Resolved } from '../net/resolver.ts'
import type { Lease } from './access-table.ts'
import type { Egress } from './exit-addresses.ts'
import type { Plane } from './plane.ts'
import type { RawSocket } from './socket-types.ts'

/** Why a request does not reach its target. The client gets `status` and `text`, the access log `code`. */
export type Refused = {
  status: 403 | 502 | 503 | 504
  code: 'denied-domain' | 'denied-address' | 'refused-range' | 'refused-port' | DialFault
  text: string
}
type DialFault =
  | 'not-found'
  | 'dns-timeout'
  | 'refused'
  | 'unreachable'
  | 'connect-timeout'
  | 'no-egress'
  | 'too-many-open'

const faults: Record<DialFault, { status: 502 | 503 | 504; text: string }> = {
  'not-found': { status: 502, text: 'The name does not resolve' },
  'dns-timeout': { status: 504, text: 'The name did not resolve in time' },
  refused: { status: 502, text: 'The target refused the connection' },
  unreachable: { status: 502, text: 'The target cannot be reached' },
  'connect-timeout': { status: 504, text: 'The target did not respond in time' },
  'no-egress': { status: 502, text: 'The leased IP cannot be used on this server right now' },
  'too-many-open': { status: 503, text: 'This server has too many connections right now' }
}
const fault = (code: DialFault): Refused => ({ code, ...faults[code] })

/** How many addresses of one name are tried. */
const MAX_TRIES = 3
const MAX_PORT_RETRIES = 16

/** Judges a name and a port before anything is resolved or dialled. Null: both are allowed. */
export function checkTarget(plane: Plane, lease: Lease, host: string, port: number): Refused | null {
  if (nameDenied(plane, lease, host)) {
    return { status: 403, code: 'denied-domain', text: `Domain not included in this proxy's plan: ${host}` }
  }
  if (plane.destinations.portDenied(port))
    return { status: 403, code: 'refused-port', text: `Port ${port} is closed for proxies` }
  return null
}

/** Judges an address that was asked for without a name. It is denied if it is known to belong to a denied site. */
export function checkBareAddress(plane: Plane, lease: Lease, host: string): Refused | null {
  if (!lease.deny.hasNames && !plane.accessTable.blacklist.hasNames) return null
  const denied = plane.addressNames.of(host).some(name => nameDenied(plane, lease, name))
  return denied ? deniedAddress : null
}

/** What an open connection leads to. */
type OpenTarget = {
  /** As requested: `host:port`; an IPv6 host may be in brackets. */
  asked: string
  /** The connected address. Null: not connected yet. */
  address: string | null
  /** The site shown in the tunnel. Null: each request in it is judged. Undefined: it is not inspected. */
  shown: string | null | undefined
}

/** Judges a connection that is open, or about to be, by the present rules. */
export function checkOpenTarget(plane: Plane, lease: Lease, { asked, address, shown }: OpenTarget): AgentCode | null {
  const colon = asked.lastIndexOf(':')
  const host = asked.slice(0, colon).replace(/^\[|\]$/g, '')
  const port = Number(asked.slice(colon + 1))
  if (nameDenied(plane, lease, host)) return 'denied-domain'
  if (typeof shown === 'string' && nameDenied(plane, lease, shown)) return 'denied-name'
  if (shown === undefined && checkBareAddress(plane, lease, host) !== null) return 'denied-address'
  const parsed = address === null ? null : parseAddress(address)
  return parsed === null ? null : (checkAddress(plane, lease, parsed, port)?.code ?? null)
}

const nameDenied = (plane: Plane, lease: Lease, name: string): boolean =>
  lease.deny.deniesName(name) || plane.accessTable.blacklist.deniesName(name)

const deniedAddress: Refused = {
  status: 403,
  code: 'denied-address',
  text: "Address not included in this proxy's plan"
}

/** Judges a requested or resolved address. */
export function checkAddress(plane: Plane, lease: Lease, address: Address, port: number): Refused | null {
  if (!plane.destinations.allows(address, port)) {
    return { status: 403, code: 'refused-range', text: 'This destination is not on the public internet' }
  }
  if (lease.deny.deniesAddress(address) || plane.accessTable.blacklist.deniesAddress(address)) {
    return deniedAddress
  }
  return null
}

type Done = (result: RawSocket | Refused) => void
type Guarded = (work: () => void) => void

/**
 * Resolves the host, judges every address, and connects from the leased address to one that was judged. One refused
 * address refuses the whole name, because such an answer is an attempt to bypass the rules. The caller must tick the result, for
 * its timeouts, and may cancel it. `done` may run within this call; own callbacks run in `guarded`.
 */
export function dial(
  plane: Plane,
  lease: Lease,
  egress: Egress,
  host: string,
  port: number,
  done: Done,
  guarded: Guarded
): Dialing {
  plane.abuse.dials(lease.user, `${host}:${port}`, plane.now)
  const dialing = new Dialing(plane, lease, egress, port, done, guarded)
  dialing.start(host)
  return dialing
}

export class Dialing {
  readonly #plane: Plane
  readonly #lease: Lease
  readonly #egress: Egress
  readonly #port: number
  readonly #family: 4 | 6
  #done: Done | null
  readonly #guarded: Guarded
  #rawSocket: RawSocket | null = null
  #expires = Infinity
  #targets: readonly string[] = []
  #index = 0
  #retries = 0

  constructor(plane: Plane, lease: Lease, egress: Egress, port: number, done: Done, guarded: Guarded) {
    this.#plane = plane
    this.#lease = lease
    this.#egress = egress
    this.#port = port
    this.#family = egress.address.v4 >= 0 ? 4 : 6
    this.#done = done
    this.#guarded = guarded
  }

  start(host: string): void {
    if (parseAddress(host) !== null) return this.#checkAddresses([host])
    if (looksNumeric(host)) return this.#finish(fault('not-found'))
    const answered = (resolved: Resolved): void => {
      if (this.#done !== null) this.#guarded(() => this.#resolved(host, resolved))
    }
    this.#plane.resolve(host, this.#family, answered, this.#lease.user)
  }

  #resolved(host: string, resolved: Resolved): void {
    if (resolved.ok) {
      this.#plane.addressNames.note(host, resolved.addresses)
      this.#checkAddresses(resolved.addresses)
    } else this.#finish(fault(resolved.reason === 'timeout' ? 'dns-timeout' : 'not-found'))
  }

  #checkAddresses(texts: readonly string[]): void {
    const targets: string[] = []
    // The answer may have taken seconds, so the present rules apply.
    const lease = this.#plane.present(this.#lease)
    for (const text of texts) {
      const address = parseAddress(text)
      if (address === null) continue
      const refused = checkAddress(this.#plane, lease, address, this.#port)
      if (refused !== null) return this.#finish(refused)
      const v4 = address.v4 >= 0
      if (v4 === (this.#family === 4)) targets.push(v4 ? formatV4(address.v4) : text)
    }
    this.#targets = targets.slice(0, MAX_TRIES)
    this.#attempt('unreachable')
  }

  /** Tries the next target. `last` is the fault if none is left. */
  #attempt(last: DialFault): void {
    const target = this.#targets[this.#index]
    if (target === undefined) return this.#finish(fault(last))
    this.#expires = this.#plane.now + this.#plane.limits.connectMs
    const connected = (code: string | null): void => {
      this.#guarded(() => {
        if (code !== null) this.#failed(code)
        else if (this.#rawSocket !== null) this.#finish(this.#rawSocket)
      })
    }
    const { sockets, sourcePorts } = this.#plane
    this.#rawSocket = sockets.connect(target, this.#port, this.#family, this.#egress.text, connected, sourcePorts)
  }

  #failed(code: string): void {
    this.#rawSocket?.destroy()
    // Something listens on this local port, so try another one.
    if (code === 'EADDRINUSE' && this.#retries < MAX_PORT_RETRIES) this.#retries++
    else {
      this.#index++
      this.#retries = 0
    }
    this.#attempt(faultOf(code))
  }

  #finish(result: RawSocket | Refused): void {
    const done = this.#done
    this.#done = null
    this.#expires = Infinity
    try {
      done?.(result)
    } catch (error) {
      // No one else holds the socket yet.
      if (!('status' in result)) result.destroy()
      throw error
    }
  }

  tick(now: number): void {
    if (now > this.#expires) this.#failed('ETIMEDOUT')
  }

  cancel(): void {
    if (this.#done === null) return
    this.#done = null
    this.#expires = Infinity
    this.#rawSocket?.destroy()
  }
}

/** Other spellings of addresses: `127.1`, `0x7f000001`, `2130706433`. No public name looks like that (RFC 3696). */
export const looksNumeric = (host: string): boolean => /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(host)

function faultOf(code: string): DialFault {
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ETIMEDOUT') return 'connect-timeout'
  if (code === 'EMFILE' || code === 'ENFILE') return 'too-many-open'
  return code === 'EADDRNOTAVAIL' || code === 'EADDRINUSE' || code === 'EINVAL' ? 'no-egress' : 'unreachable'
}
