import { eq, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { among } from '../../infra/list/index.ts'
import { replaceJobData } from '../../infra/job-data.ts'
import { forgetBlock } from './blocked-addresses.ts'
import { keptAtAddress, lowered, wentTo, type Recipient } from './recipient.ts'
import { FORGOTTEN } from './record.ts'
import { DELETED_HOST, sendMailQueue } from './send-mail.ts'
import { mailChoices, mailContents, mails } from './tables.ts'
import { TEMPLATES, type Template } from './templates/index.ts'

/** The data of a job whose mail must not be sent: only its cause is left. */
const WITHOUT_RECIPIENT = sql`jsonb_build_object('to', ${`deleted@${DELETED_HOST}`}::text, 'template', data -> 'template',
  'key', data -> 'key', 'data', '{}'::jsonb)`

/**
 * Removes a deleted user's address: its choices, its name and content in the log of mails, and mails that wait. Their
 * jobs and dead letters keep only the cause. It includes mails to the user's former addresses, but not those of other
 * people who had an address or name before. Call it last in a command, because jobs are locked last; mails of the same
 * command are sent.
 */
export async function forgetAddress(unit: Unit, user: Recipient): Promise<void> {
  const { tx } = unit
  const address = user.email.toLowerCase()
  await tx.delete(mailChoices).where(eq(mailChoices.address, address))
  await forgetBlock(unit, address)
  for (const whose of [wentTo(tx, user), keptAtAddress(user)]) {
    const forgotten = await tx
      .update(mails)
      .set({ to: FORGOTTEN, error: null, carried: null })
      .where(whose)
      .returning({ id: mails.id })
    const ids = forgotten.map(({ id }) => id)
    // After the update, which waits for jobs that are recording the content of such mails.
    await tx.delete(mailContents).where(among(mailContents.mailId, ids))
  }
  await replaceJobData(
    tx,
    sendMailQueue,
    sql`lower(data ->> 'to') = ${address} and (data ->> 'template' = any(${sql.param(TO_SENDERS)}::text[])
      or coalesce(lower(data #>> '{data,username}') = any(${sql.param(lowered(user.names))}::text[]), true))`,
    WITHOUT_RECIPIENT
  )
}

/**
 * Cancels waiting mails of these templates to an address and removes it from their jobs. Call it last in a command,
 * because jobs are locked last.
 */
export const forgetWaitingMails = ({ tx }: Unit, address: string, templates: readonly Template[]): Promise<void> =>
  replaceJobData(
    tx,
    sendMailQueue,
    sql`lower(data ->> 'to') = ${address.toLowerCase()} and data ->> 'template' = any(${sql.param([...templates])}::text[])`,
    WITHOUT_RECIPIENT
  )

/** Templates for senders of tickets, addressed by the name that they gave. */
const TO_SENDERS = Object.entries(TEMPLATES).flatMap(([name, { kind }]) => (kind === 'support' ? [name] : []))
