import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { Language, MailFailureCode, MailKind, MailState } from '@netlet/contract'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { RenderedMail } from './layout.ts'
import { mailContents, mails } from './tables.ts'

/** Why a mail was not sent: for programs, and in English. */
export type MailFailure = { code: MailFailureCode; sentence: string }
export type MailToSend = { key: string; to: string; template: string; kind: MailKind; language: Language }

/** Instead of the address of somebody whose account was deleted. */
export const FORGOTTEN = 'deleted'

/** What a mail said, without its secrets, and whom it addressed by name. */
export type MailContent = RenderedMail & { username: string | null }

/** `tries`: this one included. */
export type ClaimedMail = { id: number; createdAt: Date; tries: number }

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
      .returning({ id: mails.id, createdAt: mails.createdAt, tries: mails.tries })
    if (claimed) return claimed
    const [known] = await tx.select({ state: mails.state }).from(mails).where(eq(mails.key, mail.key))
    if (known?.state === 'waiting') throw new Error(`Another job is sending the mail ${mail.key}`)
    return null
  })
}

/** What came of a mail that this job had taken. Of one whose recipient was forgotten meanwhile nothing is kept to send it again. */
export async function recordMail(
  ctx: AppContext,
  id: number,
  outcome: {
    state: MailState
    failure?: MailFailure
    providerId?: string | null
    carried?: object | undefined
    content?: MailContent
  }
): Promise<void> {
  await command(ctx, SYSTEM, async ({ tx, now }) => {
    const [mail] = await tx
      .update(mails)
      .set({
        // The service may have reported that the mail came back before its answer is written down here.
        state: unlessBounced(mails.state, outcome.state),
        error: unlessForgotten(unlessBounced(mails.error, outcome.failure?.sentence ?? null)),
        errorCode: unlessBounced(mails.errorCode, outcome.failure?.code ?? null),
        providerId: outcome.providerId ?? null,
        sentAt: outcome.state === 'sent' ? now : null,
        carried: unlessForgotten(sql`${outcome.carried ? JSON.stringify(outcome.carried) : null}::jsonb`)
      })
      .where(eq(mails.id, id))
      .returning({ to: mails.to })
    // Under the row's lock: whoever forgets the address meanwhile finds what was written here.
    if (!outcome.content || !mail || mail.to === FORGOTTEN) return
    const content = { ...outcome.content, createdAt: now }
    await tx
      .insert(mailContents)
      .values({ mailId: id, ...content })
      .onConflictDoUpdate({ target: mailContents.mailId, set: content })
  })
}

const unlessBounced = (kept: AnyPgColumn, value: string | null): SQL =>
  sql`case when ${mails.state} = 'bounced' then ${kept} else ${value}::text end`

const unlessForgotten = (value: SQL): SQL => sql`case when ${mails.to} <> ${FORGOTTEN} then ${value} end`

/** How long to wait after a try of which nobody knows whether the service took the mail: it may arrive twice. */
const UNCERTAIN_PAUSES = [10 * MINUTE, HOUR]

/**
 * Notes that the service may have taken a mail, without an answer.
 * @param to whom the log names: nothing is noted where that one was forgotten meanwhile
 * @returns in how many milliseconds to hand it over once more; null where that was done often enough, or nobody is to get it
 */
export async function recordUncertain(
  { tx }: Unit,
  { id, to }: { id: number; to: string },
  failure: MailFailure
): Promise<number | null> {
  const [mail] = await tx
    .update(mails)
    .set({
      uncertainTries: sql`${mails.uncertainTries} + 1`,
      error: unlessForgotten(sql`${failure.sentence}::text`),
      errorCode: failure.code
    })
    .where(and(eq(mails.id, id), eq(mails.to, to)))
    .returning({ tries: mails.uncertainTries })
  return (mail && UNCERTAIN_PAUSES[mail.tries - 1]) ?? null
}

/**
 * Notes that the service asked to be asked later; whichever job comes then may take the mail at once.
 * @returns false where nobody is to get it any more
 */
export async function recordPutOff(
  { tx }: Unit,
  { id, to }: { id: number; to: string },
  failure: MailFailure
): Promise<boolean> {
  const put = await tx
    .update(mails)
    .set({
      claimedAt: new Date(0),
      error: unlessForgotten(sql`${failure.sentence}::text`),
      errorCode: failure.code
    })
    .where(and(eq(mails.id, id), eq(mails.to, to), eq(mails.state, 'waiting')))
    .returning({ id: mails.id })
  return put.length > 0
}
