import type { AgentCode } from '@netlet/contract/agent-codes'
import type { Address } from '../net/ip.ts'
import type { Lease } from './access-table.ts'
import type { Holder } from './connection-limits.ts'
import type { UserSpeed } from './speed-limit.ts'
import type { ListNode } from './strangers.ts'

export type LetInBy = 'password' | 'address'

/** The plane's view of an open client connection. */
export type TrackedConnection = {
  readonly local: Address
  readonly clientText: string
  readonly lease: Lease | null
  /** How it was let in. */
  readonly letInBy: LetInBy
  /** Its number in this process, and when it opened (Unix time). */
  readonly id: number
  readonly openedAt: number
  readonly egress: { text: string }
  /** The last requested target. */
  readonly target: string
  readonly up: number
  readonly down: number
  /** Its place among connections that have not logged in. */
  stranger: ListNode | null
  /** What it counts for since its login. */
  holder: Holder | null
  /** The user named by the last failed login, if the address belongs to that user. */
  named: Lease | null
  /** Adds the bytes since the last call to the counter. */
  account(): void
  tick(now: number): void
  /** Ends it if the present rules deny its target. */
  judgeAgain(): void
  setSpeed(speed: UserSpeed | null): void
  destroy(): void
  /** Destroys it and logs the reason. */
  endBecause(note: AgentCode): void
}

/** The open client connections of a process, oldest first, and those of each user. */
export class OpenConnections {
  readonly #all = new Set<TrackedConnection>()
  readonly #byUser = new Map<string, Set<TrackedConnection>>()

  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): IterableIterator<TrackedConnection> {
    return this.#all.values()
  }

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

  /** Counts it for a user. */
  assign(connection: TrackedConnection, user: string): void {
    let own = this.#byUser.get(user)
    if (own === undefined) this.#byUser.set(user, (own = new Set()))
    own.add(connection)
  }

  release(connection: TrackedConnection, user: string): void {
    const own = this.#byUser.get(user)
    own?.delete(connection)
    if (own?.size === 0) this.#byUser.delete(user)
  }
}

const NONE: ReadonlySet<TrackedConnection> = new Set()
