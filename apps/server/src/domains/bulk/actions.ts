import type { CustomerNote, Refusal, RunAction } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Outcomes, Result } from '../../infra/result.ts'

/** Parameters of an action beside its rows. */
export type RunInput = Readonly<
  Partial<CustomerNote> & {
    server_id?: number
    to_server_id?: number | undefined
    to_group_id?: number | undefined
    outage_id?: number
  }
>

/** A bulk action, provided by the domain that owns the rows. */
export type BulkWork = {
  /** Called before a query selects rows, as the list does before it replies. @returns a refusal if it must not */
  open?(ctx: AppContext, by: UserActor, query: Readonly<Record<string, string>>): Promise<Refusal | null>
  /**
   * The ids of all rows that a list's query matches, on any page.
   * @param limit at most this many
   * @param now the shop's time, for expired rows
   * @returns a refusal if the list does not know the query
   */
  ids(db: Executor, query: Readonly<Record<string, string>>, limit: number, now: Date): Promise<Result<number[]>>
  /** The rows' names for people. Missing rows are left out. */
  labels: (db: Executor, ids: number[]) => Promise<ReadonlyMap<number, string>>
  /** What would happen to these rows now, for the confirmation: one query for any number of rows. */
  plan?(db: Executor, ids: number[], asked: { by: UserActor; now: Date }): Promise<Outcomes>
  /** Does the work for one row, within a command of the run. `run`: the run's id, and its parameters. */
  run(unit: Unit, id: number, run: { id: number; input: RunInput }): Promise<Result<unknown>>
}

/** Every action of the contract with its work, provided by the composition of server and workers. */
export type BulkActions = Readonly<Record<RunAction, BulkWork>>
