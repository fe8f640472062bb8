import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Threshold } from './levels.ts'

/** What accounts needs of domains above it. The composition of the program (src/ports.ts) hands it in. */
export type AccountPorts = {
  /** From how many level points on which level is reached. */
  levelThresholds(db: Executor): Promise<Threshold[]>
  /** Of a user's coins those that cannot be spent yet. */
  pendingCoins(db: Executor, userId: number): Promise<number>
  /** Sets a user's coins, with a record of the difference. The user's row is locked. */
  setCoins(unit: Unit, userId: number, coins: number): Promise<void>
  /** Does the user have reserved or active leases? */
  holdsLeases(tx: Executor, userId: number): Promise<boolean>
}
