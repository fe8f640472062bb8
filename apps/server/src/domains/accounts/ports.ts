import type { Unit } from '../../infra/command.ts'
import type { UserFigures } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import type { Threshold } from './levels.ts'

/** What accounts needs from domains above it. src/ports.ts provides it. */
export type AccountPorts = {
  /** The level points at which each level begins. */
  levelThresholds(db: Executor): Promise<Threshold[]>
  /** The user's coins that cannot be spent yet. */
  pendingCoins(db: Executor, userId: number): Promise<number>
  figures(db: Executor, userId: number): Promise<UserFigures>
  /** Changes a locked user's coins or level points by an amount, with its record. */
  changePoints(unit: Unit, userId: number, change: { kind: 'coins' | 'level'; by: number }): Promise<void>
  /** After a change of a user's e-mail address: updates what depends on it. */
  syncCodesToAddress(unit: Unit, userId: number): void
  /**
   * Why a user cannot be deleted yet: live leases, an undelivered paid order, or money that settled nothing; null:
   * nothing is owed. Called before the user's lock, because orders are locked first.
   */
  owed(unit: Unit, userId: number): Promise<'leases' | 'order' | null>
  /** Removes the personal data that other domains have of a user. */
  forget: readonly ((unit: Unit, person: Person) => Promise<void>)[]
  /** Other domains' data of a user for the export: parts by name, rows in batches. */
  exports: Readonly<Record<string, DataExport>>
}

/** A user whose personal data is exported or removed, with its last `username` and `email`. */
export type Person = { id: number; username: string; email: string }

/** A part of the exported data: JSON rows in batches, so that memory stays flat. */
export type DataExport = (db: Executor, person: Person) => AsyncIterable<readonly object[]>
