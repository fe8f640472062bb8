import { and, eq, gte, inArray, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { mailContents, mails } from './tables.ts'

/** A user whose mails are meant: addresses and names go from one user to another. */
export type Recipient = {
  username: string
  email: string
  /** When the account was made, and when it got the name that it has now. */
  since: Date
  namedSince: Date
  /** The present name and former ones. */
  names: readonly string[]
  /** The present address and former ones, each with the time in which it was the user's; `until` is null for the present one. */
  addresses: readonly { address: string; from: Date; until: Date | null }[]
}

export const lowered = (texts: readonly string[]): string[] => texts.map(text => text.toLowerCase())

/**
 * Which account a mail addressed, in lower case; null where that is not known, or it addressed none: a ticket's answer has
 * the name that its sender chose.
 */
const accountOf: SQL = sql`case when ${mails.kind} <> 'support' then lower(coalesce(
  (select ${mailContents.username} from ${mailContents} where ${mailContents.mailId} = ${mails.id}),
  ${mails.carried} #>> '{data,username}')) end`

/** The mails that went to this user. By its indexes: no more rows are looked at than have one of the names or addresses. */
export function wentTo(db: Executor, { username, since, namedSince, names, addresses }: Recipient): SQL | undefined {
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
 * All mails to the present address since it is the user's, and those from before that name nobody: the code to sign up is one.
 * Up to the last one that named somebody else they were of who had the address before.
 */
export function keptAtAddress({ email, names, addresses }: Recipient): SQL | undefined {
  const from = addresses.at(-1)?.from ?? new Date(0)
  const ownCode = and(isNull(accountOf), sql`${mails.id} > ${lastOfOthers(email, names)}`)
  return and(eq(lower(mails.to), email.toLowerCase()), or(gte(mails.createdAt, from), ownCode))
}

const lastOfOthers = (email: string, names: readonly string[]): SQL => sql`coalesce((
  select max(other.id) from ${mails} other left join ${mailContents} content on content.mail_id = other.id
  where lower(other."to") = ${email.toLowerCase()} and other.kind <> 'support'
    and lower(coalesce(content.username, other.unsent #>> '{data,username}')) <> all(${sql.param(lowered(names))}::text[])), 0)`
