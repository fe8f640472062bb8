import { timingSafeEqual } from 'node:crypto'
import { type Address, parseAddress, parsePrefix, type Prefix, RangeSet } from '../net/ip.ts'
import type { Op, UserRecord } from '../state/ops.ts'
import { DenySet, emptyDenySet } from './deny-set.ts'

/** The most characters that a password may have, see the contract. */
const SECRET_SIZE = 128

/** What a proxy user may do, ready for lookups. A changed user gets a new Lease: identity tells old from new. */
export type Lease = {
  user: string
  secret: Buffer
  addresses: RangeSet
  deny: DenySet
  /** null: any client address. */
  clients: RangeSet | null
}

const ranges = (texts: readonly string[]): RangeSet =>
  new RangeSet(texts.map(text => parsePrefix(text)).filter((prefix): prefix is Prefix => prefix !== null))

/** A password in a buffer of fixed size with its length behind, so that comparing takes the same time whatever it is. */
function writeSecret(buffer: Buffer, password: string): Buffer {
  buffer.fill(0)
  const written = buffer.write(password, 0, SECRET_SIZE, 'latin1')
  buffer.writeUInt16LE(Math.min(password.length, 0xffff), SECRET_SIZE)
  // Longer ones than fit are told apart by the length behind.
  return written <= SECRET_SIZE ? buffer : buffer.fill(0)
}

/** Who may use which address: what each worker looks up before a connection leaves. */
export class AccessTable {
  readonly #leases = new Map<string, Lease>()
  readonly #denySets = new Map<string, DenySet>()
  readonly #given = Buffer.alloc(SECRET_SIZE + 2)
  readonly #nobody = Buffer.alloc(SECRET_SIZE + 2, 1)
  blacklist: DenySet = emptyDenySet
  prefixes: Prefix[] = []

  /** Applies changes; the names of the users whose lease is another one now come back. */
  apply(ops: readonly Op[]): Set<string> {
    const changed = new Set<string>()
    for (const op of ops) {
      if (op.op === 'user') {
        changed.add(op.user)
        if (op.record === null) this.#leases.delete(op.user)
        else this.#leases.set(op.user, this.#lease(op.user, op.record))
      } else if (op.op === 'deny-set') {
        if (op.domains === null) this.#denySets.delete(op.hash)
        else this.#denySets.set(op.hash, new DenySet(op.domains))
      } else if (op.op === 'prefixes') {
        this.prefixes = op.prefixes.map(text => parsePrefix(text)).filter((prefix): prefix is Prefix => prefix !== null)
      } else this.blacklist = new DenySet(op.domains)
    }
    return changed
  }

  #lease(user: string, record: UserRecord): Lease {
    return {
      user,
      secret: writeSecret(Buffer.alloc(SECRET_SIZE + 2), record.password),
      addresses: ranges(record.prefixes),
      deny: this.#denySets.get(record.denySet) ?? emptyDenySet,
      clients: record.allowedClientIps.length === 0 ? null : ranges(record.allowedClientIps)
    }
  }

  get users(): number {
    return this.#leases.size
  }

  /** The present lease of a user, or undefined. */
  lease(user: string): Lease | undefined {
    return this.#leases.get(user)
  }

  /**
   * The lease under which `user` may use the address `local` from the client `client`; null where the user is unknown,
   * the password wrong, the address not leased to it, or the client not on its list.
   */
  authorise(local: Address, client: string, user: string, password: string): Lease | null {
    const lease = this.#leases.get(user)
    const same = timingSafeEqual(writeSecret(this.#given, password), lease === undefined ? this.#nobody : lease.secret)
    if (lease === undefined || !same) return null
    return this.permits(lease, local, client) ? lease : null
  }

  /** Whether a lease covers the address and the client, whatever the password. */
  permits(lease: Lease, local: Address, client: string): boolean {
    if (!lease.addresses.has(local)) return false
    if (lease.clients === null) return true
    const address = parseAddress(client)
    return address !== null && lease.clients.has(address)
  }
}
