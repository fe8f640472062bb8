import type { Language, MailFailureCode, MailKind, MailState } from '@netlet/contract'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, eq, inArray, sql } from '../../infra/db/drizzle.ts'
import type { RenderedMail } from './layout.ts'
import { mailContents, mails } from './tables.ts'

/** Why a mail was not sent: a code for programs, and an English sentence. */
export type MailFailure = { code: MailFailureCode; sentence: string }
export type MailToSend = { key: string; to: string; template: string; kind: MailKind; language: Language }

/** Replaces the address of a deleted account. */
export const FORGOTTEN = 'deleted'

/** A mail's content without secrets, and the name that it addressed. */
export type MailContent = RenderedMail & { username: string | null }

/** `tries` includes this one. */
export type ClaimedMail = { id: number; createdAt: Date; tries: number }

/** Longer than any exchange with a mail service: an older claim belongs to a job that died or waits for a retry. */
const CLAIM = 2 * MINUTE

/**
 * Claims a mail for this job, so that each cause is mailed once, even with several jobs.
 * @returns null if it has ended, sent or not
 * @throws while another job is sending it: that job's outcome decides
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
    if (known?.state === 'waiting') throw new Error(`Another job is sending the email ${mail.key}`)
    return null
  })
}

/** Records the outcome of a claimed mail. For a recipient deleted in the meantime, it keeps no data. */
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
        // The service may have reported a bounce before we record its answer.
        state: unlessBounced(mails.state, outcome.state),
        error: unlessForgotten(unlessBounced(mails.error, outcome.failure?.sentence ?? null)),
        errorCode: unlessBounced(mails.errorCode, outcome.failure?.code ?? null),
        providerId: outcome.providerId ?? null,
        sentAt: outcome.state === 'sent' ? now : null,
        carried: unlessForgotten(sql`${outcome.carried ? JSON.stringify(outcome.carried) : null}::jsonb`)
      })
      .where(eq(mails.id, id))
      .returning({ to: mails.to })
    // Under the row's lock, so that a concurrent deletion of the address also finds this content.
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

/** Pauses after a try with an unknown result: the mail may arrive twice. */
const UNCERTAIN_PAUSES = [10 * MINUTE, HOUR]

/**
 * Records that the service may have taken a mail but did not answer.
 * @param to the name in the log: if the recipient was deleted in the meantime, nothing is recorded
 * @returns the pause before the next try in milliseconds; null after enough tries or without a recipient
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
 * Records that the service asked us to retry later, and lets any later job claim the mail at once.
 * @returns false if the recipient was deleted
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

type MailOutcome = { id: number; state: MailState; error: string | null; error_code: MailFailureCode | null }

/** The outcomes of mails by key. A mail without a job's attempt has no entry. */
export async function mailOutcomes(db: Executor, keys: readonly string[]): Promise<Map<string, MailOutcome>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .select({ key: mails.key, id: mails.id, state: mails.state, error: mails.error, error_code: mails.errorCode })
    .from(mails)
    .where(inArray(mails.key, [...keys]))
  return new Map(rows.map(({ key, ...outcome }) => [key, outcome]))
}

/** The recipients and states of mails by key. */
export async function mailStates(
  db: Executor,
  keys: readonly string[]
): Promise<Map<string, { to: string; state: MailState }>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .select({ key: mails.key, to: mails.to, state: mails.state })
    .from(mails)
    .where(inArray(mails.key, [...keys]))
  return new Map(rows.map(({ key, ...mail }) => [key, mail]))
}
