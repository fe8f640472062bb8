import type { Refusal, RunAction } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Outcomes } from '../../infra/outcomes.ts'
import type { Result } from '../../infra/result.ts'

/** What an action has to know beside its rows, by name. */
export type RunInput = Readonly<Record<string, number>>

/** What an action is, told by the domain that owns the rows. */
export type BulkWork = {
  /** Asked before rows are chosen by a query, as the list asks before it answers one. @returns why it is not answered */
  open?(ctx: AppContext, by: UserActor, query: Readonly<Record<string, string>>): Promise<Refusal | null>
  /**
   * The ids of the rows that a list's query matches, whatever page it asks for.
   * @param limit at most this many
   * @param now the shop's time, for what is expired
   * @returns a refusal where the list does not know such a query
   */
  ids(db: Executor, query: Readonly<Record<string, string>>, limit: number, now: Date): Promise<Result<number[]>>
  /** The names by which people know these rows. Those that are gone are left out. */
  labels: (db: Executor, ids: number[]) => Promise<ReadonlyMap<number, string>>
  /** What would become of these rows now, for the question before: one query, however many they are. */
  plan?(db: Executor, ids: number[], asked: { by: UserActor; now: Date }): Promise<Outcomes>
  /** Does the thing to one row, as part of a command of the run's. @param input what the run was started with */
  run(unit: Unit, id: number, input: RunInput): Promise<Result<unknown>>
}

/** Every action of the contract with its work: handed in where the server and the workers are put together. */
export type BulkActions = Readonly<Record<RunAction, BulkWork>>
