// Mails that wait or failed, and the mail service's words.
import { and, asc, count, desc, eq, inArray, isNotNull, max, min, sql } from '../../infra/db/drizzle.ts'
import { MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { sendMailQueue } from './send-mail.ts'
import { mails } from './tables.ts'

/**
 * The service's message and the time of the oldest mail that waits because of a refused key; undefined if none does.
 */
export async function refusedMail(db: Executor): Promise<{ message: string; since: Date } | undefined> {
  const [waiting] = await db
    .select({ message: mails.error, since: mails.createdAt })
    .from(mails)
    .where(and(eq(mails.state, 'waiting'), eq(mails.errorCode, 'unauthorized')))
    .orderBy(asc(mails.id))
    .limit(1)
  return waiting && { message: waiting.message ?? '–', since: waiting.since }
}

/** Failures of the service itself. `unauthorized` is reported as a refused token. */
const SERVICE_FAILURES = ['not_configured', 'throttled', 'timeout', 'network', 'server_error'] as const

/** How long the service may take no mail before operators get a notice. */
const OUTAGE = 15 * MINUTE

/** How many of the last sent mails are examined. */
const LAST_SENT = 1000

/**
 * Mails that wait because the service has taken none for a quarter of an hour: their number, since when the oldest
 * waits, and the newest failure. Undefined if the service works or no mail waits for it.
 */
export async function unsentMails(
  db: Executor,
  now: Date
): Promise<{ count: number; since: Date; reason: string } | undefined> {
  const before = new Date(now.getTime() - OUTAGE)
  const waits = and(eq(mails.state, 'waiting'), inArray(mails.errorCode, SERVICE_FAILURES))
  const [waiting] = await db
    .select({
      count: count(),
      since: min(mails.createdAt),
      reason: sql<string | null>`(array_agg(${mails.error} order by ${mails.id} desc))[1]`
    })
    .from(mails)
    .where(waits)
  if (!waiting?.since || waiting.since > before) return undefined
  const last = db
    .select({ sentAt: mails.sentAt })
    .from(mails)
    .where(eq(mails.state, 'sent'))
    .orderBy(desc(mails.id))
    .limit(LAST_SENT)
    .as('last')
  const [sent] = await db.select({ at: max(last.sentAt) }).from(last)
  if (sent?.at && sent.at > before) return undefined
  return { count: waiting.count, since: waiting.since, reason: waiting.reason ?? '–' }
}

/** How many mails failed permanently, and the last failure of a waiting one. */
export async function mailTroubles(db: Executor): Promise<{ failed: number; error: string | null }> {
  const [failed] = await db.select({ count: count() }).from(mails).where(eq(mails.state, 'failed'))
  const [waiting] = await db
    .select({ error: mails.error })
    .from(mails)
    .where(and(eq(mails.state, 'waiting'), isNotNull(mails.error)))
    .orderBy(desc(mails.id))
    .limit(1)
  return { failed: failed?.count ?? 0, error: waiting?.error ?? null }
}

/** How many mails wait, including those between two tries, and since when people wait for the oldest. */
export async function waitingMails(db: Executor): Promise<{ waiting: number; oldest: Date | null }> {
  const { rows } = await db.execute<{ waiting: number; oldest: string | null }>(sql`
    select count(*)::int as waiting,
      min(coalesce((job.data ->> 'again_at')::timestamptz, ${mails.createdAt}, job.created_on)) as oldest
    from pgboss.job job left join ${mails} on ${mails.key} = job.singleton_key
    where job.name = ${sendMailQueue.name} and job.state in ('created', 'retry')`)
  const { waiting = 0, oldest = null } = rows[0] ?? {}
  return { waiting, oldest: oldest === null ? null : new Date(oldest) }
}
