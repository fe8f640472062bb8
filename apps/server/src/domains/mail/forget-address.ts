import { eq, sql } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { among } from '../../infra/list/index.ts'
import { replaceJobData } from '../../infra/job-data.ts'
import { forgetBlock } from './blocked-addresses.ts'
import { keptAtAddress, lowered, wentTo, type Recipient } from './recipient.ts'
import { FORGOTTEN } from './record.ts'
import { DELETED_HOST, sendMailQueue } from './send-mail.ts'
import { mailChoices, mailContents, mails } from './tables.ts'
import { TEMPLATES, type Template } from './templates/index.ts'

/** What a job carries of a mail that is not sent: its cause, and nothing of what it said. */
const TO_NOBODY = sql`jsonb_build_object('to', ${`deleted@${DELETED_HOST}`}::text, 'template', data -> 'template',
  'key', data -> 'key', 'data', '{}'::jsonb)`

/**
 * Nobody has this address any more: its choices go, the log of mails does not name it and keeps nothing of what they said,
 * and what waits to be sent to it is not sent. The jobs and dead letters of such mails keep their cause and nothing of what
 * they said. Mails that went to its user at a former address are forgotten, too; mails of somebody else who had the address
 * or the name before are not. Call it at the end of a command, since jobs are locked last; a mail that the same command
 * enqueues is sent.
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
    // After the update, which waited for whoever is writing down what such a mail said.
    await tx.delete(mailContents).where(among(mailContents.mailId, ids))
  }
  await replaceJobData(
    tx,
    sendMailQueue,
    sql`lower(data ->> 'to') = ${address} and (data ->> 'template' = any(${sql.param(TO_SENDERS)}::text[])
      or coalesce(lower(data #>> '{data,username}') = any(${sql.param(lowered(user.names))}::text[]), true))`,
    TO_NOBODY
  )
}

/**
 * What waits to be sent to an address by these templates is not sent, and its jobs do not name it any more. Call it at the end
 * of a command, since jobs are locked last.
 */
export const forgetWaitingMails = ({ tx }: Unit, address: string, templates: readonly Template[]): Promise<void> =>
  replaceJobData(
    tx,
    sendMailQueue,
    sql`lower(data ->> 'to') = ${address.toLowerCase()} and data ->> 'template' = any(${sql.param([...templates])}::text[])`,
    TO_NOBODY
  )

/** Templates that address whoever wrote, by the name that they gave. */
const TO_SENDERS = Object.entries(TEMPLATES).flatMap(([name, { kind }]) => (kind === 'support' ? [name] : []))
