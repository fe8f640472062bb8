import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { type SQL, and, asc, eq, gt, gte, inArray, isNull, lt, or, sql } from '../../infra/db/drizzle.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { replaceJobData } from '../../infra/job-data.ts'
import { among } from '../../infra/list/index.ts'
import { forgetBlock } from './blocked-addresses.ts'
import { FORGOTTEN } from './record.ts'
import { DELETED_HOST, sendMailQueue } from './send-mail.ts'
import { mailChoices, mailContents, mailParts, mails } from './tables.ts'
import { TEMPLATES, type Template } from './templates/index.ts'

/** A user's mails, including former addresses, for the export of personal data, in batches, with stored content. */
export async function* exportMails(db: Executor, user: Recipient): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select({ id: mails.id, mail: mails, subject: mailContents.subject, text: mailContents.text })
      .from(mails)
      .leftJoin(mailContents, eq(mailContents.mailId, mails.id))
      .where(and(sentTo(db, user), gt(mails.id, after)))
      .orderBy(asc(mails.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(({ mail, subject, text }) => ({
      to: mail.to,
      template: mail.template,
      kind: mail.kind,
      language: mail.language,
      state: mail.state,
      why: mail.errorCode,
      created_at: iso(mail.createdAt),
      sent_at: isoOrNull(mail.sentAt),
      subject,
      text
    }))
}

/** A user as a recipient. Addresses and names may have belonged to other users before. */
export type Recipient = {
  username: string
  email: string
  /** When the account was created, and when it got its current name. */
  since: Date
  namedSince: Date
  /** The current name and former ones. */
  names: readonly string[]
  /** The current address and former ones, each with its time as the user's; `until` is null for the current one. */
  addresses: readonly { address: string; from: Date; until: Date | null }[]
}

const lowered = (texts: readonly string[]): string[] => texts.map(text => text.toLowerCase())

/**
 * The account that a mail addressed, in lower case. Null if unknown or none: a ticket's answer uses a name that its
 * sender chose.
 */
const accountOf: SQL = sql`case when ${mails.kind} <> 'support' then lower(coalesce(
  (select ${mailContents.username} from ${mailContents} where ${mailContents.mailId} = ${mails.id}),
  ${mails.carried} #>> '{data,username}')) end`

/** The mails to this user. Uses indexes, so it reads only rows with one of the names or addresses. */
function sentTo(db: Executor, { username, since, namedSince, names, addresses }: Recipient): SQL | undefined {
  const toThem = inArray(lower(mails.to), lowered(addresses.map(({ address }) => address)))
  const naming = db
    .select({ id: mailContents.mailId })
    .from(mailContents)
    .where(inArray(lower(mailContents.username), lowered(names)))
  const found = db.select({ id: mails.id }).from(mails).where(toThem).union(naming)
  return and(
    inArray(mails.id, found),
    or(
      and(toThem, inArray(accountOf, lowered(names)), gte(mails.createdAt, since)),
      and(eq(accountOf, username.toLowerCase()), gte(mails.createdAt, namedSince)),
      and(
        isNull(accountOf),
        or(
          ...addresses.map(({ address, from, until }) =>
            and(
              eq(lower(mails.to), address.toLowerCase()),
              gte(mails.createdAt, from),
              until ? lt(mails.createdAt, until) : undefined
            )
          )
        )
      )
    )
  )
}

/**
 * All mails to the current address since it became the user's, and earlier ones without a name, such as the sign-up
 * code. Earlier ones count only after the last mail that names another user, the previous owner of the address.
 */
function keptAtAddress({ email, names, addresses }: Recipient): SQL | undefined {
  const from = addresses.at(-1)?.from ?? new Date(0)
  const ownCode = and(isNull(accountOf), sql`${mails.id} > ${lastOfOthers(email, names)}`)
  return and(eq(lower(mails.to), email.toLowerCase()), or(gte(mails.createdAt, from), ownCode))
}

const lastOfOthers = (email: string, names: readonly string[]): SQL => sql`coalesce((
  select max(other.id) from ${mails} other left join ${mailContents} content on content.mail_id = other.id
  where lower(other."to") = ${email.toLowerCase()} and other.kind <> 'support'
    and lower(coalesce(content.username, other.unsent #>> '{data,username}')) <> all(${sql.param(lowered(names))}::text[])), 0)`

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
  await tx.delete(mailParts).where(eq(lower(mailParts.to), address))
  await forgetBlock(unit, address)
  for (const whose of [sentTo(tx, user), keptAtAddress(user)]) {
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
