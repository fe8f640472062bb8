import { eq, sql } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { among } from '../../infra/list/index.ts'
import { replaceJobData } from '../../infra/job-data.ts'
import { keptAtAddress, lowered, wentTo, type Recipient } from './recipient.ts'
import { FORGOTTEN } from './record.ts'
import { DELETED_HOST, sendMailQueue } from './send-mail.ts'
import { mailChoices, mailContents, mails } from './tables.ts'
import { TEMPLATES } from './templates/index.ts'

/**
 * Nobody has this address any more: its choices go, the log of mails does not name it and keeps nothing of what they said,
 * and what waits to be sent to it is not sent. The jobs and dead letters of such mails keep their cause and nothing of what
 * they said. Mails that went to its user at a former address are forgotten, too; mails of somebody else who had the address
 * or the name before are not. Call it at the end of a command, since jobs are locked last; a mail that the same command
 * enqueues is sent.
 */
export async function forgetAddress({ tx }: Unit, user: Recipient): Promise<void> {
  const address = user.email.toLowerCase()
  await tx.delete(mailChoices).where(eq(mailChoices.address, address))
  for (const whose of [wentTo(tx, user), keptAtAddress(user)]) {
    const forgotten = await tx
      .update(mails)
      .set({ to: FORGOTTEN, error: null, unsent: null })
      .where(whose)
      .returning({ id: mails.id })
    const ids = forgotten.map(({ id }) => id)
    // After the update, which waited for whoever is writing down what such a mail said.
    await tx.delete(mailContents).where(among(mailContents.mailId, ids))
  }
  const nobody = `deleted@${DELETED_HOST}`
  await replaceJobData(
    tx,
    sendMailQueue,
    sql`lower(data ->> 'to') = ${address} and (data ->> 'template' = any(${sql.param(TO_SENDERS)}::text[])
      or coalesce(lower(data #>> '{data,username}') = any(${sql.param(lowered(user.names))}::text[]), true))`,
    sql`jsonb_build_object('to', ${nobody}::text, 'template', data -> 'template', 'key', data -> 'key', 'data', '{}'::jsonb)`
  )
}

/** Templates that address whoever wrote, by the name that they gave. */
const TO_SENDERS = Object.entries(TEMPLATES).flatMap(([name, { kind }]) => (kind === 'support' ? [name] : []))
