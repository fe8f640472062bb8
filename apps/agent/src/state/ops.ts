import type { PackedRanges } from '../net/ip.ts'

/** A proxy user as it is kept: everything normalised, prefixes in canonical notation, the deny set by its hash. */
export type UserRecord = {
  password: string
  prefixes: string[]
  denySet: string
  allowedClientIps: string[]
}

/**
 * One change. On its way to a worker many prefixes are packed, and left out of the texts. The domains of a deny set are as `normaliseDenyList` gives them: sorted, exceptions with their mark. The journal on disk, the definitions in the managing process and the lookup tables of every worker are
 * all folds over the same changes, so that they cannot disagree.
 */
export type Op =
  | { op: 'user'; user: string; record: UserRecord | null; packed?: { addresses: PackedRanges; clients: PackedRanges } }
  | { op: 'deny-set'; hash: string; domains: string[] | null }
  | { op: 'prefixes'; prefixes: string[]; packed?: PackedRanges }
  | { op: 'blacklist'; domains: string[] }
