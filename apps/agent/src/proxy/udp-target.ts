import type { AgentCode } from '@netlet/contract/agent-codes'
import { formatV4, parseAddress } from '../net/ip.ts'
import type { Resolved } from '../net/resolver.ts'
import type { ClientConnection } from './connection.ts'
import { checkAddress, checkBareAddress, checkTarget, looksNumeric } from './dial.ts'

/** A destination of an association's datagrams, by the requested name or address. */
export type UdpTarget = {
  readonly host: string
  readonly port: number
  /** Null while the name is resolved, or if it is refused. */
  address: string | null
  refused: { status: number; code: AgentCode } | null
  /** Datagrams that wait for the name. */
  waiting: Buffer[]
  up: number
  down: number
  readonly since: number
  usedAt: number
}

const QUIC_PORT = 443
/** Least length of a QUIC connection's first datagram. */
const QUIC_HELLO = 1200

/** Whether the user has denied names, which a datagram could hide. */
function judged({ lease, plane }: ClientConnection): boolean {
  return lease !== null && (plane.present(lease).deny.hasNames || plane.accessTable.blacklist.hasNames)
}

/**
 * Whether a datagram must be dropped although its target is allowed: it begins a QUIC connection, whose name cannot be
 * read. See docs/adr/agent-names-inside-tunnels.md.
 */
export function hidesName(connection: ClientConnection, data: Buffer): boolean {
  if (data.length < QUIC_HELLO || ((data[0] ?? 0) & 0xc0) !== 0xc0 || !judged(connection)) return false
  const version = data.readUInt32BE(1)
  return version === 1 || version === 0x6b33_43cf || version >>> 8 === 0xff_0000
}

/** Why the present rules refuse datagrams to a target. Null: allowed. */
export function refusalOf(
  connection: ClientConnection,
  { host, port, address }: Pick<UdpTarget, 'host' | 'port' | 'address'>
): UdpTarget['refused'] {
  if (connection.lease === null) return null
  const { plane } = connection
  const lease = plane.present(connection.lease)
  const refused = checkTarget(plane, lease, host, port) ?? checkBareAddress(plane, lease, host)
  if (refused !== null) return refused
  if (port === QUIC_PORT && judged(connection)) return quicRefused
  const parsed = address === null ? null : parseAddress(address)
  return parsed && checkAddress(plane, lease, parsed, port)
}

/** Resolves and judges a target like a connection's. `found` gets the address or the refusal, and may run within this call. */
export function findUdpTarget(
  connection: ClientConnection,
  host: string,
  port: number,
  found: (result: string | UdpTarget['refused']) => void
): void {
  const { plane, egress, lease: opened } = connection
  if (opened === null) return
  // An association may last for months, so the present rules apply to new targets.
  const refused = refusalOf(connection, { host, port, address: null })
  if (refused !== null) return found(refused)
  const family = egress.address.v4 >= 0 ? 4 : 6
  const judge = (texts: readonly string[]): void => {
    let chosen: string | null = null
    const lease = plane.present(opened)
    for (const text of texts) {
      const address = parseAddress(text)
      if (address === null) continue
      const refusedAddress = checkAddress(plane, lease, address, port)
      if (refusedAddress !== null) return found(refusedAddress)
      // IPv4 sockets do not accept the IPv6 spelling of an IPv4 address.
      if (address.v4 >= 0 === (family === 4)) chosen ??= address.v4 >= 0 ? formatV4(address.v4) : text
    }
    found(chosen ?? notFound)
  }
  if (parseAddress(host) !== null) return judge([host])
  if (looksNumeric(host)) return found(notFound)
  const answered = (resolved: Resolved): void => {
    if (connection.gone) return
    connection.guarded(() => {
      if (!resolved.ok) return found(notFound)
      plane.addressNames.note(host, resolved.addresses)
      // A rule may have changed during the lookup.
      const deniedSince = refusalOf(connection, { host, port, address: null })
      if (deniedSince !== null) found(deniedSince)
      else judge(resolved.addresses)
    })
  }
  plane.resolve(host, family, answered, opened.user)
}

const quicRefused: UdpTarget['refused'] = { status: 403, code: 'hidden-name' }
const notFound: UdpTarget['refused'] = { status: 502, code: 'not-found' }
