import { eq, sql, type SQL } from '../../../infra/db/drizzle.ts'
import { DAY } from '../../../infra/clock.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { readSome } from '../../settings/index.ts'
import { users } from '../tables.ts'

/** How long an operator may work without a second factor, from the first log-in on. */
const GRACE = 7 * DAY

/** `operators_need_second_factor` within a query, with its default. */
const isRequired = sql.raw(
  `coalesce((select s.value = 'true'::jsonb from settings s where s.key = 'operators_need_second_factor'), true)`
)

/** Must an operator have a second factor? */
export const operatorsNeedOne = async (db: Executor): Promise<boolean> =>
  (await readSome(db, ['operators_need_second_factor'])).operators_need_second_factor

/**
 * Within a query: when the user must have a second factor; null if it has one, or needs none.
 * @param user the name of `users` in the query
 */
export const dueAt = (user: 'users' | 'impersonator'): SQL<Date | null> =>
  sql<Date | null>`case when ${sql.raw(`${user}.is_superuser`)} and ${isRequired}
    and not exists (select from second_factors f where f.user_id = ${sql.raw(`${user}.id`)})
    then ${sql.raw(`${user}.second_factor_due_at`)} end`.mapWith(users.secondFactorDueAt)

/** Begins an operator's time to add a second factor, and ends it while none is required. */
export async function startGrace({ tx, now }: Unit, userId: number): Promise<void> {
  const due = new Date(now.getTime() + GRACE).toISOString()
  await tx
    .update(users)
    .set({ secondFactorDueAt: sql`case when ${isRequired} then ${due}::timestamptz end` })
    .where(
      sql`${eq(users.id, userId)} and ${users.isSuperuser} and (${users.secondFactorDueAt} is null) = ${isRequired}`
    )
}
