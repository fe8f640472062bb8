import { eq, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { users } from '../accounts/tables.ts'
import { levelTagQueue, levelTagsQueue } from './queues.ts'
import { levelCodes } from './tables.ts'

/** Has the platform's customer tagged if this change of level points changed the user's level. */
export async function followLevel(unit: Unit, userId: number, points: number): Promise<void> {
  const levelAt = (sum: SQL) =>
    sql<number>`coalesce((select max(${levelCodes.level}) from ${levelCodes} where ${levelCodes.point} <= ${sum}), 0)`
  const [level] = await unit.tx
    .select({
      now: levelAt(sql`${users.levelPoints}`),
      before: levelAt(sql`${users.levelPoints} - ${points}::bigint`)
    })
    .from(users)
    .where(eq(users.id, userId))
  if (level && level.now !== level.before) unit.jobs.send(levelTagQueue, { userId }, { key: String(userId) })
}

/** Call it after a change that may affect many users' levels. One pass over all of the platform's customers. */
export const followLevels = (unit: Unit): void => unit.jobs.send(levelTagsQueue, {}, { key: 'asked' })
