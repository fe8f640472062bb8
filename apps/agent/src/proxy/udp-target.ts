import type { AgentCode } from '@netlet/contract/agent-codes'
import { formatV4, parseAddress } from '../net/ip.ts'
import type { Resolved } from '../net/resolver.ts'
import type { ClientConnection } from './connection.ts'
import { checkAddress, checkBareAddress, checkTarget, looksNumeric } from './dial.ts'

/** Where datagrams of one association go, by the name or address that the client gives. */
export type UdpTarget = {
  readonly host: string
  readonly port: number
  /** null while the name is asked for, and where it is refused. */
  address: string | null
  refused: { status: number; code: AgentCode } | null
  /** Datagrams that wait for the answer. */
  waiting: Buffer[]
  up: number
  down: number
  readonly since: number
  usedAt: number
}

const QUIC_PORT = 443
/** The first datagram of a QUIC connection is at least as long. */
const QUIC_HELLO = 1200

/** Whether names are denied to the user, so that what is hidden in a datagram could be one of them. */
function judged({ lease, plane }: ClientConnection): boolean {
  return lease !== null && (plane.present(lease).deny.hasNames || plane.accessTable.blacklist.hasNames)
}

/**
 * Whether a datagram must not pass although its target may be reached: the beginning of a QUIC connection, whose name cannot be
 * read. See docs/adr/agent-names-inside-tunnels.md.
 */
export function hidesName(connection: ClientConnection, data: Buffer): boolean {
  if (data.length < QUIC_HELLO || ((data[0] ?? 0) & 0xc0) !== 0xc0 || !judged(connection)) return false
  const version = data.readUInt32BE(1)
  return version === 1 || version === 0x6b33_43cf || version >>> 8 === 0xff_0000
}

/** Why datagrams may not go to an address any more, by the rules of now. */
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

/**
 * Finds where datagrams for a host go, under the rules of connections. `found` gets the address, or why there is none; it may
 * be called within this call.
 */
export function findUdpTarget(
  connection: ClientConnection,
  host: string,
  port: number,
  found: (result: string | UdpTarget['refused']) => void
): void {
  const { plane, egress, lease: opened } = connection
  if (opened === null) return
  // An association may last for months: its new targets go by the rules of now.
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
      // An IPv4 address may be written as an IPv6 one, which no IPv4 socket takes.
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
      // The name may have been denied while it was asked for.
      const deniedSince = refusalOf(connection, { host, port, address: null })
      if (deniedSince !== null) found(deniedSince)
      else judge(resolved.addresses)
    })
  }
  plane.resolve(host, family, answered, opened.user)
}

const quicRefused: UdpTarget['refused'] = { status: 403, code: 'hidden-name' }
const notFound: UdpTarget['refused'] = { status: 502, code: 'not-found' }
