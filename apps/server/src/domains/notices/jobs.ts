import { and, asc, eq, isNull, lt, or } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { sendDigests } from './digest.ts'
import type { NoticePorts } from './rules.ts'
import { sendNotice } from './send.ts'
import { noticeSends, notices } from './tables.ts'
import { enqueueSend, isMuted, openTeller, sendNoticeQueue } from './tell.ts'
import { watchNotices } from './watch.ts'
import { lock } from '../../infra/db/locks.ts'
import { type Raised, raiseNoticeQueue } from './found.ts'

/**
 * Opens a notice that a command raised, or updates the open one of the same subject. A known occurrence changes
 * nothing, so a job that runs twice sends once.
 */
export async function handleRaised(ctx: AppContext, { at, ...raised }: Raised & { at: string }): Promise<void> {
  const { cause, subject, key, words, params } = raised
  await command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const teller = await openTeller(unit)
    const { enabled, severity } = teller.rules.causes[cause]
    if (!enabled) return
    const known = await tx
      .select()
      .from(notices)
      .where(
        or(eq(notices.key, key), and(eq(notices.cause, cause), eq(notices.subject, subject), isNull(notices.closedAt)))
      )
    if (known.some(notice => notice.key === key)) return
    const told = { toldCount: 1, toldSeverity: severity, toldAt: now, changedAt: now, seenAt: now }
    // The search of each minute sends it when the mute ends.
    const untold = { ...told, toldSeverity: null }
    const says = { key, severity, words, params }
    const [open] = known
    const [row] = open
      ? await tx
          .update(notices)
          .set({ ...says, ...(isMuted(open, now) ? untold : told) })
          .where(eq(notices.id, open.id))
          .returning()
      : await tx
          .insert(notices)
          .values({ cause, subject, ...says, ...told, since: new Date(raised.since ?? at), createdAt: now })
          .returning()
    if (!row) throw new Error('the notice was not written')
    // If a search has just opened the notice, the command only adds better words.
    const isNews = !open || open.key !== null || open.toldAt === null
    if (isNews) teller.tell(row, open ? 'worse' : 'opened')
    await teller.send()
    unit.publish('notice', row.id)
  })
}

const watchQueue = queue<object>('watch-notices', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const noticeJobs = (ports: NoticePorts): Job[] => [
  job(raiseNoticeQueue, {
    purpose: 'Opens a notice to operators about a reported problem.',
    run: handleRaised
  }),
  job(watchQueue, {
    purpose: 'Opens notices about new problems, closes ended ones, and creates the daily digests.',
    cron: '* * * * *',
    run: async ctx => {
      await watchNotices(ctx, ports.finders)
      await sendDigests(ctx)
      await askAgain(ctx)
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
async function askAgain(ctx: AppContext): Promise<void> {
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
