import { type ConnectionCaps, defaultCaps } from './connection-limits.ts'
import { defaultHandshakeCaps, type HandshakeCaps } from './handshakes.ts'

/** Limits of the data plane; times in milliseconds, sizes in bytes. */
export type Limits = {
  headBytes: number
  responseHeadBytes: number
  /** What a process keeps in all of heads that are not whole, of connections that have not logged in. */
  heldHeadBytes: number
  /** From the first byte of a request (or SOCKS greeting) to the end of its head. */
  headMs: number
  /** A kept-alive connection between two requests. */
  keepAliveMs: number
  /** Silence in a tunnel or an exchange. */
  idleMs: number
  /** Silence in a tunnel of which one side has ended: mostly a client that is gone. */
  halfClosedMs: number
  connectMs: number
  connections: number
  /** Open connections of one client address that have not logged in. */
  strangersPerClient: number
  /** Wrong log-ins of one client address at once, and how long until one more is let through. */
  failedLogins: number
  failedLoginMs: number
  /** How often deadlines are looked at. */
  sweepMs: number
} & ConnectionCaps &
  HandshakeCaps

export const defaultLimits: Limits = {
  headBytes: 32_768,
  responseHeadBytes: 65_536,
  // More than the connections of one client address that have not logged in can hold: one alone pushes nobody out.
  heldHeadBytes: 67_108_864,
  headMs: 10_000,
  keepAliveMs: 60_000,
  idleMs: 300_000,
  halfClosedMs: 15_000,
  connectMs: 10_000,
  ...defaultCaps,
  ...defaultHandshakeCaps,
  connections: 60_000,
  strangersPerClient: 1024,
  failedLogins: 100,
  failedLoginMs: 1000,
  sweepMs: 1000
}
