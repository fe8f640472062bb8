import { type ConnectionCaps, defaultCaps } from './connection-limits.ts'
import { defaultHandshakeCaps, type HandshakeCaps } from './handshakes.ts'

/** Limits of the data plane; times in milliseconds, sizes in bytes. */
export type Limits = {
  headBytes: number
  responseHeadBytes: number
  /** Incomplete heads in one process, of all connections that have not logged in. */
  heldHeadBytes: number
  /** From the first byte of a request (or SOCKS greeting) to the end of its head. */
  headMs: number
  /** Pause between two requests of a kept connection. */
  keepAliveMs: number
  /** Silence in a tunnel or an exchange. */
  idleMs: number
  /** Silence in a tunnel with one side closed. Usually the client is gone. */
  halfClosedMs: number
  connectMs: number
  connections: number
  /** Open connections of one client address without a login. */
  strangersPerClient: number
  /** Wrong logins of one client address at once, and the time until it gets one more. */
  failedLogins: number
  failedLoginMs: number
  /** Interval of deadline checks. */
  sweepMs: number
} & ConnectionCaps &
  HandshakeCaps

export const defaultLimits: Limits = {
  headBytes: 32_768,
  responseHeadBytes: 65_536,
  // More than one client's connections without a login can hold, so one client alone pushes no one out.
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
