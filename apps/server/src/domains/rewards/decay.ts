import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { readSettings } from '../settings/index.ts'
import { levelDecays, pointRecords } from './tables.ts'

const BATCH = 5000

/**
 * Lets everyone's level points fade once a month, from the day that the settings name: points × (1 − rate), rounded
 * down. Ask as often as you like: a month that is done is left alone, one that broke off goes on where it was, and a
 * month whose day was missed is caught up. Users who came after the day keep their points.
 * @returns how many users' points changed in this call
 */
export async function decayLevelPoints(
  ctx: Pick<AppContext, 'db' | 'secrets' | 'now'>,
  { batch = BATCH }: { batch?: number } = {}
): Promise<number> {
  const now = ctx.now()
  const settings = await readSettings(ctx.db, ctx.secrets)
  const due = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), settings.level_points_decay_day))
  if (now < due) return 0
  const month = now.toISOString().slice(0, 7)
  const rate = String(settings.level_points_decay_rate)
  await ctx.db.insert(levelDecays).values({ month, startedAt: now }).onConflictDoNothing()
  let changed = 0
  for (;;) {
    const step = await ctx.db.transaction(async tx => decayBatch(tx, { month, due, rate, batch, now }))
    changed += step.changed
    if (step.finished) return changed
  }
}

/** The next users by id. The month's row is locked: two workers at once take turns, and neither takes the other's. */
async function decayBatch(
  tx: Executor,
  { month, due, rate, batch, now }: { month: string; due: Date; rate: string; batch: number; now: Date }
): Promise<{ changed: number; finished: boolean }> {
  const [progress] = await tx.select().from(levelDecays).where(eq(levelDecays.month, month)).for('update')
  if (!progress || progress.finishedAt) return { changed: 0, finished: true }
  const at = now.toISOString()
  const { rows } = await tx.execute<{ last: number | null; changed: number }>(sql`
    with concerned as (
      select id from ${users} where id > ${progress.doneUpTo} order by id limit ${batch}
    ), faded as (
      select u.id, u.level_points - floor(u.level_points * (1 - ${rate}::numeric))::bigint as lost
      from ${users} u join concerned c on c.id = u.id
      where u.level_points > 0 and u.created_at < ${due.toISOString()}::timestamptz
      order by u.id for no key update of u
    ), written as (
      insert into ${pointRecords} (user_id, kind, point, reason, cause, created_at)
      select id, 'level', -lost, 'Monthly decay', 'decay:' || ${month} || ':' || id, ${at}::timestamptz
      from faded where lost > 0
      on conflict (cause) do nothing
      returning user_id, point
    ), changed as (
      update ${users} u set level_points = u.level_points + w.point
      from written w where u.id = w.user_id returning u.id
    )
    select (select max(id) from concerned) as last, (select count(*) from changed) as changed`)
  const { last, changed } = rows[0] ?? { last: null, changed: 0 }
  const finished = last === null
  await tx
    .update(levelDecays)
    .set(finished ? { finishedAt: now } : { doneUpTo: last })
    .where(eq(levelDecays.month, month))
  return { changed, finished }
}
