import {
  and,
  asc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  notExists,
  or,
  sql
} from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { type NoticePorts, readRules } from './rules.ts'
import { sendNotice } from './send.ts'
import { noticeChannels, notices, noticeSends } from './tables.ts'
import { enqueueSend, enqueueSends, isMuted, openNotifier, sendNoticeQueue } from './notifier.ts'
import { watchNotices } from './watch.ts'
import { lock } from '../../infra/db/locks.ts'
import { type Raised, raiseNoticeQueue } from './found.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { localTime } from './bundle.ts'

/**
 * Opens a notice that a command raised, or updates the open one of the same subject. A known occurrence changes
 * nothing, so a job that runs twice sends once.
 */
export async function openRaisedNotice(ctx: AppContext, { at, ...raised }: Raised & { at: string }): Promise<void> {
  const { cause, subject, key, words, params } = raised
  await command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const notifier = await openNotifier(unit)
    const { enabled, severity } = notifier.rules.causes[cause]
    if (!enabled) return
    const known = await tx
      .select()
      .from(notices)
      .where(
        or(eq(notices.key, key), and(eq(notices.cause, cause), eq(notices.subject, subject), isNull(notices.closedAt)))
      )
    if (known.some(notice => notice.key === key)) return
    const toldNow = { toldCount: 1, toldSeverity: severity, toldAt: now, changedAt: now, seenAt: now }
    // The search of each minute sends it when the mute ends.
    const toldLater = { ...toldNow, toldSeverity: null }
    const content = { key, severity, words, params }
    const [open] = known
    const [row] = open
      ? await tx
          .update(notices)
          .set({ ...content, ...(isMuted(open, now) ? toldLater : toldNow) })
          .where(eq(notices.id, open.id))
          .returning()
      : await tx
          .insert(notices)
          .values({ cause, subject, ...content, ...toldNow, since: new Date(raised.since ?? at), createdAt: now })
          .returning()
    if (!row) throw new Error('the notice was not written')
    // If a search has just opened the notice, the command only adds better words.
    const isNews = !open || open.key !== null || open.toldAt === null
    if (isNews) notifier.tell(row, open ? 'worse' : 'opened')
    await notifier.send()
    unit.publish('notice', row.id)
  })
}

const watchQueue = queue<object>('watch-notices', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const noticeJobs = (ports: NoticePorts): Job[] => [
  job(raiseNoticeQueue, {
    purpose: 'Opens a notice to operators about a reported problem.',
    run: openRaisedNotice
  }),
  job(watchQueue, {
    purpose: 'Opens notices about new problems, closes ended ones, and creates the daily digests.',
    cron: '* * * * *',
    run: async ctx => {
      await watchNotices(ctx, ports.finders)
      await sendDigests(ctx)
      await requeueLostSends(ctx)
    }
  }),
  job(sendNoticeQueue, {
    purpose: 'Sends one notice to one channel. If the channel fails, it retries for about 24 hours.',
    concurrency: 4,
    run: (ctx, { sendId }, jobId) => sendNotice(ctx, ports, sendId, jobId)
  })
]

const BATCH = 200
/** How long a message's own job may take. */
const GRACE = 5 * MINUTE

/** Enqueues messages again if their job was lost. A waiting job is not doubled. */
async function requeueLostSends(ctx: AppContext): Promise<void> {
  const late = new Date(ctx.now().getTime() - GRACE)
  const lost = await ctx.db
    .select({ id: noticeSends.id })
    .from(noticeSends)
    .where(and(eq(noticeSends.state, 'waiting'), isNull(noticeSends.withId), lt(noticeSends.dueAt, late)))
    .orderBy(asc(noticeSends.dueAt))
    .limit(BATCH)
  if (lost.length === 0) return
  await command(ctx, SYSTEM, async unit => {
    for (const { id } of lost) enqueueSend(unit, id, 0)
  })
}

export const noticeRetention: RetentionEntry[] = [
  {
    what: 'notices',
    keep: { ms: 366 * DAY },
    why: 'Ended notices and their messages. While one is kept, the same occurrence opens no new notice.',
    async remove(unit, before, limit) {
      const removed = await removeRows(
        unit,
        notices,
        and(isNotNull(notices.closedAt), lt(notices.closedAt, before)),
        limit
      )
      const others = and(
        isNull(noticeSends.noticeId),
        lt(noticeSends.createdAt, before),
        ne(noticeSends.state, 'waiting')
      )
      return removed + (await removeRows(unit, noticeSends, others, limit))
    },
    count: db => countRows(db, notices, notices.createdAt)
  }
]

/** How many notices a digest lists, the most severe first. */
const MOST = 50

/**
 * Once a day, at the configured hour or as soon after it as a worker runs: each channel gets what has opened, got worse
 * or ended since its last digest, except for immediate messages. The channel's row stores the day.
 */
export async function sendDigests(ctx: AppContext): Promise<void> {
  const rules = await readRules(ctx.db)
  const { day, hour } = localTime(ctx.now(), rules.time_zone)
  if (hour < rules.digest_hour) return
  const isDue = and(
    eq(noticeChannels.enabled, true),
    eq(noticeChannels.digest, true),
    // A change of the time zone may go back a day. Its notices then come with the next day's digest.
    or(isNull(noticeChannels.digestDay), lt(noticeChannels.digestDay, day))
  )
  if ((await ctx.db.$count(noticeChannels, isDue)) === 0) return
  await command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const due = await tx.select().from(noticeChannels).where(isDue).orderBy(asc(noticeChannels.id)).for('update')
    for (const { id: channelId, digestUntil } of due) {
      const toldThere = tx
        .select({ one: sql`1` })
        .from(noticeSends)
        .where(
          and(
            eq(noticeSends.noticeId, notices.id),
            eq(noticeSends.channelId, channelId),
            inArray(noticeSends.state, ['waiting', 'sent'])
          )
        )
      const rest = and(
        gt(notices.changedAt, digestUntil),
        lte(notices.changedAt, now),
        or(isNull(notices.mutedUntil), lte(notices.mutedUntil, now)),
        notExists(toldThere)
      )
      const rows = await tx
        .select({ id: notices.id })
        .from(notices)
        .where(rest)
        .orderBy(sql`array_position(array['critical', 'warning', 'info'], ${notices.severity})`, asc(notices.id))
        .limit(MOST)
      await tx.update(noticeChannels).set({ digestDay: day, digestUntil: now }).where(eq(noticeChannels.id, channelId))
      if (rows.length === 0) continue
      const more = rows.length < MOST ? 0 : (await tx.$count(notices, rest)) - MOST
      const noticeIds = rows.map(({ id }) => id)
      const key = `digest:${day}:${channelId}`
      await enqueueSends(unit, [{ channelId, key, telling: 'digest', noticeIds, more, dueAt: now, createdAt: now }])
    }
  })
}
