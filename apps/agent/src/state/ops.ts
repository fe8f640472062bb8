import type { AgentAccess, AgentEgress, AgentUserLimits } from '@netlet/contract/agent'
import type { PackedRanges } from '../net/ip.ts'

/** A proxy user as it is kept: everything normalised, prefixes in canonical notation, the deny set by its hash. */
export type UserRecord = {
  password: string
  prefixes: string[]
  denySet: string
  /** Who may connect; empty: everyone. */
  allowedClientIps: string[]
  /**
   * The client list as the console sent it, where operators have changed it since by the classic verbs. What they added and
   * took stays so when the console sends its list again, and is no difference in the user's hash.
   */
  sentClientIps?: string[]
  /** Left out where it is by password, as in the files of agents that knew no other. */
  access?: Exclude<AgentAccess, 'password'>
  /** Left out where nothing is limited. */
  limits?: AgentUserLimits | undefined
  /** Left out where it is fixed. */
  egress?: Exclude<AgentEgress, 'fixed'>
}

/** Entries as `normaliseDenyList` gives them, exceptions with their mark; out of the state (`DomainList`) in no order. */
export type Domains = Iterable<string> & { readonly length: number }

/**
 * One change. On its way to a worker many prefixes are packed, and left out of the texts. The journal on disk, the definitions in the managing process and the lookup tables of every worker are
 * all folds over the same changes, so that they cannot disagree.
 */
export type Op =
  | { op: 'user'; user: string; record: UserRecord | null; packed?: { addresses: PackedRanges; clients: PackedRanges } }
  | { op: 'deny-set'; hash: string; domains: Domains | null }
  | { op: 'prefixes'; prefixes: string[]; packed?: PackedRanges }
  | { op: 'blacklist'; domains: string[] }
