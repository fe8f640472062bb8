import { and, asc, eq, isNull, lt } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { sendDigests } from './digest.ts'
import { handleRaised } from './handle-raised.ts'
import type { NoticePorts } from './ports.ts'
import { raiseNoticeQueue } from './raise.ts'
import { sendNotice } from './send.ts'
import { noticeSends } from './tables.ts'
import { enqueueSend, sendNoticeQueue } from './tell.ts'
import { watchNotices } from './watch.ts'

const watchQueue = queue<object>('watch-notices', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const noticeJobs = (ports: NoticePorts): Job[] => [
  job(raiseNoticeQueue, {
    purpose: 'Opens a notice to operators of what a command told of.',
    run: handleRaised
  }),
  job(watchQueue, {
    purpose: 'Looks for what operators are to be told of, and for what has ended; once a day it makes the digests.',
    cron: '* * * * *',
    run: async ctx => {
      await watchNotices(ctx, ports.finders)
      await sendDigests(ctx)
      await askAgain(ctx)
    }
  }),
  job(sendNoticeQueue, {
    purpose: 'Sends one notice to one channel; while the channel fails, it is tried for about a day.',
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
