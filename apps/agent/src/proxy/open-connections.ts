import type { AgentCode } from '@netlet/contract/agent-codes'
import type { Address } from '../net/ip.ts'
import type { Lease } from './access-table.ts'
import type { Holder } from './connection-limits.ts'
import type { UserSpeed } from './speed-limit.ts'
import type { Place } from './strangers.ts'

export type LetInBy = 'password' | 'address'

/** What the plane asks of an open client connection. */
export type TrackedConnection = {
  readonly local: Address
  readonly clientText: string
  readonly lease: Lease | null
  /** What it was let in by. */
  readonly letInBy: LetInBy
  /** Its number in this process, and when it was opened (Unix time). */
  readonly id: number
  readonly openedAt: number
  readonly egress: { text: string }
  /** What it asked for last. */
  readonly target: string
  readonly up: number
  readonly down: number
  /** Where it is among those that have not logged in. */
  stranger: Place | null
  /** Whom it counts for since it logged in. */
  holder: Holder | null
  /** Whose name was shown at the last login that failed, where the address is that user's. */
  named: Lease | null
  /** Adds the bytes since the last call to the counter. */
  account(): void
  tick(now: number): void
  /** Ends it where the rules of now deny what it leads to. */
  judgeAgain(): void
  /** The speed of its user changed. */
  setSpeed(speed: UserSpeed | null): void
  destroy(): void
  /** Destroys it, and says in the access log why. */
  endWith(note: AgentCode): void
}

/** The open client connections of a process, in the order in which they were opened, and those of each user. */
export class OpenConnections {
  readonly #all = new Set<TrackedConnection>()
  readonly #byUser = new Map<string, Set<TrackedConnection>>()

  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): IterableIterator<TrackedConnection> {
    return this.#all.values()
  }

  /** Users with open connections. */
  users(): IterableIterator<[string, ReadonlySet<TrackedConnection>]> {
    return this.#byUser.entries()
  }

  of(user: string): ReadonlySet<TrackedConnection> {
    return this.#byUser.get(user) ?? NONE
  }

  add(connection: TrackedConnection): void {
    this.#all.add(connection)
  }

  delete(connection: TrackedConnection): void {
    this.#all.delete(connection)
  }

  /** It is a user's from now on. */
  assign(connection: TrackedConnection, user: string): void {
    let own = this.#byUser.get(user)
    if (own === undefined) this.#byUser.set(user, (own = new Set()))
    own.add(connection)
  }

  /** It is the user's no more. */
  release(connection: TrackedConnection, user: string): void {
    const own = this.#byUser.get(user)
    own?.delete(connection)
    if (own?.size === 0) this.#byUser.delete(user)
  }
}

const NONE: ReadonlySet<TrackedConnection> = new Set()
