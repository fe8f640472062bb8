import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { syncCodesOf } from './platform-codes.ts'
import { syncLevelTags } from './grant.ts'
import { holderCodesQueue } from './queues.ts'
import { eq, lt, sql } from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { chatAccountPoints, chatEvents, chatPoints, levelDecays, pointRecords } from './tables.ts'
import type { AppContext } from '../../infra/context.ts'
import { changeLevelPoints } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { readSettings } from '../settings/index.ts'

// Long enough for many users; an interrupted run resumes.
const decayQueue = queue('decay-level-points', { expireInSeconds: 900 })

export const rewardsJobs: Job[] = [
  job(holderCodesQueue, {
    purpose: "Updates the discounts of a customer's unused promo codes after a change of email address.",
    importance: 'background',
    run: syncCodesOf
  }),
  job(decayQueue, {
    purpose: "Reduces every user's level points once a month, on the day set in Web Settings.",
    // Every hour, so that a shop that was down on the day catches up.
    cron: '7 * * * *',
    async run(ctx) {
      const changed = await decayLevelPoints(ctx)
      if (changed === 0) return
      ctx.log.info({ users: changed }, 'level points decayed')
      await command(ctx, SYSTEM, async unit => syncLevelTags(unit))
    }
  })
]

/** Points, coins and gift cards are money, so they are kept. Counters of chat messages are not. */
export const rewardsRetention: RetentionEntry[] = [
  {
    what: 'chat_reports',
    keep: { ms: 2 * DAY },
    why: 'Chat bot reports, so that none counts twice. Older ones are refused because of their age.',
    remove: (unit, before, limit) => removeRows(unit, chatEvents, lt(chatEvents.receivedAt, before), limit),
    count: db => countRows(db, chatEvents, chatEvents.receivedAt)
  },
  {
    what: 'chat_days',
    keep: { ms: 7 * DAY },
    why: "Coins that a user's chat messages earned per day, for the daily limit.",
    async remove(unit, before, limit) {
      const day = iso(before).slice(0, 10)
      const removed = await removeRows(unit, chatPoints, lt(chatPoints.day, day), limit)
      return removed + (await removeRows(unit, chatAccountPoints, lt(chatAccountPoints.day, day), limit - removed))
    },
    count: db => countRows(db, chatPoints, chatPoints.day)
  }
]

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
