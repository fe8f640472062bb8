import { eq, sql } from 'drizzle-orm'
import type { Language, MailFailureCode, MailKind, MailState } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { mails } from './tables.ts'

/** Why a mail was not sent: for programs, and in English. */
export type MailFailure = { code: MailFailureCode; sentence: string }
export type MailToSend = { key: string; to: string; template: string; kind: MailKind; language: Language }

export type ClaimedMail = { id: number; createdAt: Date }

/** Longer than any exchange with a mail service takes: a job that began earlier has died or waits for its next try. */
const CLAIM = 2 * MINUTE

/**
 * Takes a mail for this job, so that one cause is mailed about once however many jobs were sent for it.
 * @returns null where it has ended, sent or not
 * @throws while another job is sending it: the outcome of that one decides
 */
export function claimMail(ctx: AppContext, mail: MailToSend, jobId: string): Promise<ClaimedMail | null> {
  return command(ctx, SYSTEM, async ({ tx, now }) => {
    const stale = new Date(now.getTime() - CLAIM)
    const [claimed] = await tx
      .insert(mails)
      .values({ ...mail, jobId, claimedAt: now, createdAt: now })
      .onConflictDoUpdate({
        target: mails.key,
        set: { jobId, claimedAt: now, tries: sql`${mails.tries} + 1` },
        setWhere: sql`${mails.state} = 'waiting' and (${mails.jobId} = ${jobId} or ${mails.claimedAt} < ${stale})`
      })
      .returning({ id: mails.id, createdAt: mails.createdAt })
    if (claimed) return claimed
    const [known] = await tx.select({ state: mails.state }).from(mails).where(eq(mails.key, mail.key))
    if (known?.state === 'waiting') throw new Error(`Another job is sending the mail ${mail.key}`)
    return null
  })
}

/** What came of a mail that this job had taken. */
export async function recordMail(
  ctx: AppContext,
  id: number,
  outcome: { state: MailState; failure?: MailFailure; providerId?: string | null; unsent?: object }
): Promise<void> {
  await command(ctx, SYSTEM, ({ tx, now }) =>
    tx
      .update(mails)
      .set({
        state: outcome.state,
        error: outcome.failure?.sentence ?? null,
        errorCode: outcome.failure?.code ?? null,
        providerId: outcome.providerId ?? null,
        sentAt: outcome.state === 'sent' ? now : null,
        unsent: outcome.unsent ?? null
      })
      .where(eq(mails.id, id))
  )
}

/** How long to wait after a try of which nobody knows whether the service took the mail: it may arrive twice. */
const UNCERTAIN_PAUSES = [10 * MINUTE, HOUR]

/**
 * Notes that the service may have taken a mail, without an answer.
 * @returns when to hand it over once more; null where that was done often enough
 */
export async function recordUncertain({ tx, now }: Unit, id: number, failure: MailFailure): Promise<Date | null> {
  const [mail] = await tx
    .update(mails)
    .set({ uncertainTries: sql`${mails.uncertainTries} + 1`, error: failure.sentence, errorCode: failure.code })
    .where(eq(mails.id, id))
    .returning({ tries: mails.uncertainTries })
  const pause = UNCERTAIN_PAUSES[(mail?.tries ?? 1) - 1]
  return pause === undefined ? null : new Date(now.getTime() + pause)
}
