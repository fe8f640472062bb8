/** A proxy user as it is kept: everything normalised, prefixes in canonical notation, the deny set by its hash. */
export type UserRecord = {
  password: string
  prefixes: string[]
  denySet: string
  allowedClientIps: string[]
}

/**
 * One change. The domains of a deny set are as `normaliseDenyList` gives them: sorted, exceptions with their mark. The journal on disk, the definitions in the managing process and the lookup tables of every worker are
 * all folds over the same changes, so that they cannot disagree.
 */
export type Op =
  | { op: 'user'; user: string; record: UserRecord | null }
  | { op: 'deny-set'; hash: string; domains: string[] | null }
  | { op: 'prefixes'; prefixes: string[] }
  | { op: 'blacklist'; domains: string[] }
