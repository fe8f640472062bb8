import { eq, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { changeLevelPoints } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { readSettings } from '../settings/index.ts'
import { levelDecays, pointRecords } from './tables.ts'

const BATCH = 5000

/**
 * Lowers all level points once a month, from the configured day: points × (1 − rate), rounded down. Idempotent: it
 * skips a finished month, resumes an interrupted one, and catches up on a missed day. Users who signed up after the day
 * keep their points.
 * @returns how many users' points changed in this call
 */
export async function decayLevelPoints(ctx: AppContext, { batch = BATCH }: { batch?: number } = {}): Promise<number> {
  const now = ctx.now()
  const settings = await readSettings(ctx.db, ctx.secrets)
  const due = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), settings.level_points_decay_day))
  if (now < due) return 0
  const month = now.toISOString().slice(0, 7)
  const rate = String(settings.level_points_decay_rate)
  await command(ctx, SYSTEM, unit =>
    unit.tx.insert(levelDecays).values({ month, startedAt: now }).onConflictDoNothing()
  )
  let changed = 0
  for (;;) {
    const step = await command(ctx, SYSTEM, unit => decayBatch(unit, { month, due, rate, batch }))
    changed += step.changed
    if (step.finished) return changed
  }
}

/** Lowers the next users by id. Locks the month's row, so that concurrent workers take different batches. */
async function decayBatch(
  unit: Unit,
  { month, due, rate, batch }: { month: string; due: Date; rate: string; batch: number }
): Promise<{ changed: number; finished: boolean }> {
  const { tx, now } = unit
  const [progress] = await tx.select().from(levelDecays).where(eq(levelDecays.month, month)).for('update')
  if (!progress || progress.finishedAt) return { changed: 0, finished: true }
  type Batch = { last: number | null; changes: { userId: number; points: number }[] }
  const { rows } = await tx.execute<Batch>(sql`
    with concerned as (
      select id from ${users} where id > ${progress.doneUpTo} order by id limit ${batch}
    ), due as (
      select u.id, u.level_points - floor(u.level_points * (1 - ${rate}::numeric))::bigint as lost
      from ${users} u join concerned c on c.id = u.id
      where u.level_points > 0 and u.created_at < ${due.toISOString()}::timestamptz
      order by u.id for no key update of u
    ), written as (
      insert into ${pointRecords} (user_id, kind, point, reason_code, cause, created_at)
      select id, 'level', -lost, 'decay', 'decay:' || ${month} || ':' || id, ${now.toISOString()}::timestamptz
      from due where lost > 0
      on conflict (cause) do nothing
      returning user_id, point
    )
    select (select max(id) from concerned) as last,
      coalesce((select jsonb_agg(jsonb_build_object('userId', user_id, 'points', point)) from written), '[]') as changes`)
  const { last, changes } = rows[0] ?? { last: null, changes: [] }
  await changeLevelPoints(unit, changes)
  const finished = last === null
  await tx
    .update(levelDecays)
    .set(finished ? { finishedAt: now } : { doneUpTo: last })
    .where(eq(levelDecays.month, month))
  return { changed: changes.length, finished }
}
