import { refuse } from '@netlet/contract'
import { and, asc, count, desc, eq, isNotNull } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { done, type Result } from '../../infra/result.ts'
import type { MailOrder } from './mail-order.ts'
import { enqueueMail } from './send-mail.ts'
import { mails } from './tables.ts'

/** Sends a mail again that failed for good, as it was; `not_found` where there is no such mail, or it is not known any more. */
export const sendAgain = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const [mail] = await unit.tx
      .select({ state: mails.state, unsent: mails.unsent, template: mails.template })
      .from(mails)
      .where(eq(mails.id, id))
      .for('update')
    if (mail?.state !== 'failed' || !mail.unsent) return refuse('not_found')
    // Claimed by nobody: the next job takes it at once.
    await unit.tx
      .update(mails)
      .set({ state: 'waiting', unsent: null, uncertainTries: 0, claimedAt: new Date(0) })
      .where(eq(mails.id, id))
    enqueueMail(unit, mail.unsent as MailOrder)
    unit.audit('mail.send_again', id, { after: { template: mail.template } })
    return done
  })

/** What the mail service said, and when, of the oldest mail that waits because it does not take the key; undefined: none does. */
export async function refusedMail(db: Executor): Promise<{ message: string; since: Date } | undefined> {
  const [waiting] = await db
    .select({ message: mails.error, since: mails.createdAt })
    .from(mails)
    .where(and(eq(mails.state, 'waiting'), eq(mails.errorCode, 'unauthorized')))
    .orderBy(asc(mails.id))
    .limit(1)
  return waiting && { message: waiting.message ?? '–', since: waiting.since }
}

/** Mails that failed for good, and what the service said last of one that waits. */
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
