import { DomainNames, NumberSet } from '../proxy/domain-names.ts'
import type { AgentAccess, AgentEgress, AgentUserLimits } from '@netlet/contract/agent'
import type { PackedRanges } from '../net/ip.ts'

export type StoredUser = UserRecord & { generation: number }

/** The present state, from all changes so far, as the managing process keeps it. */
export class Definitions {
  readonly users = new Map<string, StoredUser>()
  readonly denySets = new Map<string, DomainList>()
  /** The names of all deny sets. */
  readonly #names = new DomainNames()
  readonly #references = new Map<string, number>()
  prefixes: string[] = []
  blacklist: string[] = []
  version = 0

  /** How many users have this deny set. */
  references(hash: string): number {
    return this.#references.get(hash) ?? 0
  }

  /** Applies the changes of one version. Returns a function that reverts them. */
  apply(ops: readonly Op[], version: number): () => void {
    const undo: Array<() => void> = []
    const versionBefore = this.version
    for (const op of ops) {
      if (op.op === 'user') {
        const before = this.users.get(op.user)
        undo.unshift(() => this.#setUser(op.user, before))
        this.#setUser(op.user, op.record === null ? undefined : { ...op.record, generation: version })
      } else if (op.op === 'deny-set') {
        const before = this.denySets.get(op.hash) ?? null
        undo.unshift(() => this.#setDenySet(op.hash, before))
        this.#setDenySet(op.hash, op.domains === null ? null : new DomainList(op.domains, this.#names))
      } else if (op.op === 'prefixes') {
        const before = this.prefixes
        undo.unshift(() => (this.prefixes = before))
        this.prefixes = op.prefixes
      } else {
        const before = this.blacklist
        undo.unshift(() => (this.blacklist = before))
        this.blacklist = op.domains
      }
    }
    this.version = version
    return () => {
      for (const step of undo) step()
      this.version = versionBefore
    }
  }

  #setUser(user: string, record: StoredUser | undefined): void {
    const before = this.users.get(user)
    if (before !== undefined) this.#count(before.denySet, -1)
    if (record === undefined) this.users.delete(user)
    else {
      this.users.set(user, record)
      this.#count(record.denySet, 1)
    }
  }

  #setDenySet(hash: string, domains: DomainList | null): void {
    if (domains === null) this.denySets.delete(hash)
    else this.denySets.set(hash, domains)
  }

  #count(hash: string, by: number): void {
    const count = this.references(hash) + by
    if (count === 0) this.#references.delete(hash)
    else this.#references.set(hash, count)
  }

  /** Changes that rebuild this state from an empty one, in small entries, so that no line of the file is huge. */
  *snapshot(): Generator<{ ops: Op[]; generation: number }> {
    yield {
      ops: [
        { op: 'prefixes', prefixes: this.prefixes },
        { op: 'blacklist', domains: this.blacklist }
      ],
      generation: 0
    }
    for (const [hash, domains] of this.denySets) yield { ops: [{ op: 'deny-set', hash, domains }], generation: 0 }
    for (const [user, { generation, ...record }] of this.users)
      yield { ops: [{ op: 'user', user, record }], generation }
  }
}

/**
 * The entries of a deny set in the managing process. All lists share their texts, so a set takes at most two bytes per
 * domain. Unordered; `toSorted` gives the order of `normaliseDenyList`.
 */
export class DomainList {
  readonly #names: DomainNames
  readonly #numbers = new NumberSet()

  constructor(entries: Iterable<string>, names: DomainNames) {
    this.#names = names
    for (const entry of entries) names.hold(entry, this.#numbers)
    this.#numbers.shrink()
    // A reader may keep the list after its removal, so its numbers stay valid until it is unreachable.
    names.releaseWith(this, [this.#numbers])
  }

  get length(): number {
    return this.#numbers.size
  }

  *[Symbol.iterator](): Generator<string> {
    for (const number of this.#numbers) yield this.#names.nameOf(number)
  }

  toSorted(): string[] {
    return [...this].toSorted()
  }

  toJSON(): string[] {
    return [...this]
  }
}

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
