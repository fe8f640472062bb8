import { timingSafeEqual } from 'node:crypto'
import type { AgentAccess, AgentEgress, AgentUserLimits } from '@netlet/contract/agent'
import {
  type Address,
  formatAddress,
  type PackedRanges,
  parseAddress,
  parsePrefix,
  prefixesOf,
  RangeSet
} from '../net/ip.ts'
import type { Op, UserRecord } from '../state/definitions.ts'
import { DomainNames } from './domain-names.ts'
import { DenySet, emptyDenySet } from './deny-set.ts'
import { OpenClients } from './open-clients.ts'

/** Longest password, in characters; see the contract. */
const SECRET_SIZE = 128

/** What a proxy user may do, ready for lookups. A changed user gets a new Lease: compare by reference. */
export type Lease = {
  user: string
  secret: Buffer
  addresses: RangeSet
  /** Prefixes too large to count per address, each with the address that stands for it in counters and lists. */
  wide: ReadonlyArray<{ set: RangeSet; countedAs: string }>
  deny: DenySet
  /** Null: any client address. */
  clients: RangeSet | null
  access: AgentAccess
  /** Client prefixes that need no password. */
  openTo: readonly string[]
  limits: AgentUserLimits | null
  egress: AgentEgress
}

const ranges = (texts: readonly string[]): RangeSet => new RangeSet(prefixesOf(texts))

/** Largest prefix whose addresses are counted one by one. */
const MAX_COUNTED = 65_536n

const wideOf = (texts: readonly string[]): Lease['wide'] =>
  texts.flatMap(text => {
    const prefix = text.includes(':') ? parsePrefix(text) : null
    // Stryker disable next-line EqualityOperator: sizes are powers of two.
    if (prefix === null || prefix.last - prefix.first < MAX_COUNTED) return []
    return [{ set: new RangeSet([prefix]), countedAs: formatAddress(prefix.family, prefix.first + 1n) }]
  })

/** A password in a buffer of fixed size, followed by its length, so that comparisons take constant time. */
function writeSecret(buffer: Buffer, password: string): Buffer {
  buffer.fill(0)
  // Stryker disable next-line StringLiteral: passwords are ASCII.
  buffer.write(password, 0, SECRET_SIZE, 'latin1')
  // Passwords that are cut off still differ by their length.
  buffer.writeUInt16LE(Math.min(password.length, 0xffff), SECRET_SIZE)
  return buffer
}

/** The blacklist's name in `prepare`. */
// Stryker disable next-line StringLiteral: any text that is not a hash works.
export const BLACKLIST = 'blacklist'

/** Who may use which address. Each worker consults it before a connection leaves. */
export class AccessTable {
  readonly #leases = new Map<string, Lease>()
  readonly #denySets = new Map<string, DenySet>()
  readonly #building = new Map<string, DenySet>()
  readonly #openClients = new OpenClients<Lease>()
  /** The names of all deny sets and the blacklist. */
  readonly names = new DomainNames()
  readonly #given = Buffer.alloc(SECRET_SIZE + 2)
  readonly #nobody = Buffer.alloc(SECRET_SIZE + 2, 1)
  blacklist: DenySet = emptyDenySet
  /** The server's own prefixes. */
  // Stryker disable next-line ArrayDeclaration: a text that is not a prefix adds nothing.
  own: RangeSet = new RangeSet([])

  /** Takes some entries of a deny set (or of the blacklist) in advance. The op that completes it holds only the rest. */
  prepare(list: string, entries: readonly string[]): void {
    const building = this.#building.get(list)
    if (building === undefined) this.#building.set(list, new DenySet(entries, this.names))
    else building.add(entries)
  }

  #complete(list: string, rest: Iterable<string>): DenySet {
    const building = this.#building.get(list)
    if (building === undefined) return new DenySet(rest, this.names).seal()
    this.#building.delete(list)
    building.add(rest)
    return building.seal()
  }

  /** Applies changes. Returns the users whose lease was replaced or removed. */
  apply(ops: readonly Op[]): Set<string> {
    const changed = new Set<string>()
    for (const op of ops) {
      if (op.op === 'user') {
        changed.add(op.user)
        this.#replace(op.user, op.record === null ? null : this.#lease(op.user, op.record, op.packed))
      } else if (op.op === 'deny-set') {
        if (op.domains === null) this.#denySets.delete(op.hash)
        else this.#denySets.set(op.hash, this.#complete(op.hash, op.domains))
      } else if (op.op === 'prefixes') {
        this.own = op.packed === undefined ? ranges(op.prefixes) : new RangeSet(op.packed)
      } else this.blacklist = this.#complete(BLACKLIST, op.domains)
    }
    return changed
  }

  #replace(user: string, lease: Lease | null): void {
    const before = this.#leases.get(user)
    if (before !== undefined) this.#openClients.remove(before)
    if (lease === null) this.#leases.delete(user)
    else {
      this.#leases.set(user, lease)
      this.#openClients.add(lease)
    }
  }

  #lease(user: string, record: UserRecord, packed?: { addresses: PackedRanges; clients: PackedRanges }): Lease {
    return {
      user,
      secret: writeSecret(Buffer.alloc(SECRET_SIZE + 2), record.password),
      addresses: packed === undefined ? ranges(record.prefixes) : new RangeSet(packed.addresses),
      wide: wideOf(record.prefixes),
      deny: this.#denySets.get(record.denySet) ?? emptyDenySet,
      clients:
        record.allowedClientIps.length === 0
          ? null
          : packed === undefined
            ? ranges(record.allowedClientIps)
            : new RangeSet(packed.clients),
      access: record.access ?? 'password',
      openTo: record.access === 'address' ? record.allowedClientIps : [],
      limits: record.limits ?? null,
      egress: record.egress ?? 'fixed'
    }
  }

  get users(): number {
    return this.#leases.size
  }

  lease(user: string): Lease | undefined {
    return this.#leases.get(user)
  }

  /**
   * The lease under which `user` may use the address `local` from `client`. Null: the user is unknown, the password wrong,
   * the address not leased to the user, or the client not on the user's list.
   */
  authorise(local: Address, client: string, user: string, password: string): Lease | null {
    const lease = this.#leases.get(user)
    const same = timingSafeEqual(writeSecret(this.#given, password), lease === undefined ? this.#nobody : lease.secret)
    if (lease === undefined || !same) return null
    return this.permits(lease, local, client, 'password') ? lease : null
  }

  /** The lease that a wrong password counts against. Null: the address does not belong to the user. */
  named(local: Address, user: string): Lease | null {
    const lease = this.#leases.get(user)
    return lease?.addresses.has(local) === true ? lease : null
  }

  openTo(local: Address, client: string): Lease | 'ambiguous' | null {
    return this.#openClients.find(local, client)
  }

  /** Whether a lease covers the address and the client. `by`: how the client was let in; a password was checked before. */
  permits(lease: Lease, local: Address, client: string, by: 'password' | 'address'): boolean {
    if (!lease.addresses.has(local)) return false
    if (by === 'address' && lease.access !== 'address') return false
    if (by === 'password' && lease.access === 'address') return true
    if (lease.clients === null) return lease.access === 'password'
    const address = parseAddress(client)
    return address !== null && lease.clients.has(address)
  }
}
