import type { AgentAccess, AgentEgress, AgentUserLimits } from '@netlet/contract/agent'
import type { PackedRanges } from '../net/ip.ts'

/** A proxy user as stored: normalised, prefixes in canonical notation, the deny set as its hash. */
export type UserRecord = {
  password: string
  prefixes: string[]
  denySet: string
  /** Client addresses that may connect. Empty: all. */
  allowedClientIps: string[]
  /**
   * The console's client list, if operators changed it since by the classic verbs. Their changes survive the console's next
   * list, and do not count in the user's hash.
   */
  sentClientIps?: string[]
  /** Left out for `password`, as in files of older agents. */
  access?: Exclude<AgentAccess, 'password'>
  /** Left out if there are none. */
  limits?: AgentUserLimits | undefined
  /** Left out for `fixed`. */
  egress?: Exclude<AgentEgress, 'fixed'>
}

/** Entries as from `normaliseDenyList`, exceptions with their mark. A `DomainList` is unordered. */
export type Domains = Iterable<string> & { readonly length: number }

/**
 * One change. Journal, definitions and the workers' lookup tables all apply the same changes, so they cannot disagree.
 * `packed` replaces long lists of prefixes on the way to a worker.
 */
export type Op =
  | { op: 'user'; user: string; record: UserRecord | null; packed?: { addresses: PackedRanges; clients: PackedRanges } }
  | { op: 'deny-set'; hash: string; domains: Domains | null }
  | { op: 'prefixes'; prefixes: string[]; packed?: PackedRanges }
  | { op: 'blacklist'; domains: string[] }
