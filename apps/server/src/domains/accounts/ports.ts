import type { Unit } from '../../infra/command.ts'
import type { UserFigures } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import type { Threshold } from './levels.ts'

/** What accounts needs of domains above it. The composition of the program (src/ports.ts) hands it in. */
export type AccountPorts = {
  /** From how many level points on which level is reached. */
  levelThresholds(db: Executor): Promise<Threshold[]>
  /** Of a user's coins those that cannot be spent yet. */
  pendingCoins(db: Executor, userId: number): Promise<number>
  /** What a user has with the shop. */
  figures(db: Executor, userId: number): Promise<UserFigures>
  /** Changes a user's coins or level points by an amount, with its record. The user's row is locked. */
  changePoints(unit: Unit, userId: number, change: { kind: 'coins' | 'level'; by: number }): Promise<void>
  /** After a user's e-mail address became another one: what goes by it follows. */
  followAddress(unit: Unit, userId: number): void
  /**
   * Why a user cannot be deleted yet: live leases, an order that was paid for and not delivered, or money that settled
   * nothing. Null: nothing is owed.
   * Called before the user is locked: it locks orders, which come first.
   */
  owed(unit: Unit, userId: number): Promise<'leases' | 'order' | null>
  /** Removes the personal data that other domains hold of a user. */
  forget: readonly ((unit: Unit, person: Person) => Promise<void>)[]
  /** What other domains hold of a user, for the download of the own data: parts by name, rows in batches. */
  exports: Readonly<Record<string, DataExport>>
}

/** Whose personal data it is. `username` and `email` as they were until now. */
export type Person = { id: number; username: string; email: string }

/** A part of the own data: JSON rows in batches, so that memory stays flat. */
export type DataExport = (db: Executor, person: Person) => AsyncIterable<readonly object[]>
