import {
  type OwnTicket,
  type OwnTicketThread,
  type Ticket,
  type TicketMessage,
  type TicketQueue,
  type TicketState,
  type TicketThread,
  refuse
} from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { type SQL, and, asc, desc, eq, isNull, ne, sql } from '../../infra/db/drizzle.ts'
import { containing } from '../../infra/db/like.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, ok } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { mailOutcomes } from '../mail/index.ts'
import { ticketMessages, tickets } from './tables.ts'

export type TicketRow = typeof tickets.$inferSelect
type MessageRow = typeof ticketMessages.$inferSelect

type Query = ListInput<'id' | 'waiting_since'> & { state?: TicketState | undefined; queue?: TicketQueue | undefined }

/** Those that wait for no answer are last. */
const waitingSince = sql`(case when ${tickets.state} = 'open' then coalesce(${tickets.waitingSince}, ${tickets.createdAt}) else 'infinity'::timestamptz end)`

/** Tickets by sender and messages. `by`: whose are 'mine'. */
export const ticketList = (by: Pick<UserActor, 'id'>) =>
  defineList<Query, Ticket>({
    name: 'tickets',
    table: tickets,
    id: tickets.id,
    sort: { id: tickets.id, waiting_since: waitingSince },
    match: (_db, { search, state, queue }) => ({
      where: [state && eq(tickets.state, state), queue && inQueue(queue, by.id)],
      text: search ? { in: written, term: search, found: contains(search) } : undefined
    }),
    load: loadTickets
  })

const opening = sql`(${tickets.username} || ' ' || ${tickets.email} || ' ' || ${tickets.message})`
/** All that is written in a ticket. */
const written = sql`(${opening} || coalesce((select string_agg(' ' || ${ticketMessages.text}, '')
  from ${ticketMessages} where ${ticketMessages.ticketId} = ${tickets.id}), ''))`
/** Each half reads its own index. */
const contains = (term: string): SQL => sql`${tickets.id} in (
  select ${tickets.id} from ${tickets} where ${opening} ilike ${containing(term)}
  union select ${ticketMessages.ticketId} from ${ticketMessages} where ${ticketMessages.text} ilike ${containing(term)})`

function inQueue(queue: TicketQueue, userId: number): SQL | undefined {
  if (queue === 'waiting') return eq(tickets.state, 'open')
  return and(queue === 'mine' ? eq(tickets.assignee, userId) : isNull(tickets.assignee), ne(tickets.state, 'closed'))
}

export const countOpenTickets = (db: Executor): Promise<number> => db.$count(tickets, eq(tickets.state, 'open'))

/** Tickets of a user's account, and those with its current e-mail address, which another person may have sent. */
export const userTicketList = (userId: number) =>
  defineList<ListInput<'id'>, Ticket>({
    name: 'user_tickets',
    table: tickets,
    id: tickets.id,
    sort: { id: tickets.id },
    match: async db => {
      const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
      return {
        anyOf: [
          { column: tickets.userId, among: [userId] },
          { column: lower(tickets.email), among: user ? [user.email.toLowerCase()] : [] }
        ]
      }
    },
    load: loadTickets
  })

/** A ticket as operators see it, with its notes. */
export async function readTicket(db: Executor, id: number): Promise<Result<TicketThread>> {
  const [ticket] = await loadTickets(db, [id])
  if (!ticket) return refuse('not_found')
  const rows = await db
    .select({ message: ticketMessages, by: users.username })
    .from(ticketMessages)
    .leftJoin(users, eq(users.id, ticketMessages.userId))
    .where(eq(ticketMessages.ticketId, id))
    .orderBy(asc(ticketMessages.id))
  const mails = await mailsOf(
    db,
    rows.map(({ message }) => message)
  )
  const first = { id: 0, author: 'customer', by: null, text: ticket.message, mail: null } as const
  const later = rows.map(({ message, by }): TicketMessage => ({
    ...presentOwn(message),
    author: message.author,
    by: message.author === 'customer' ? null : by,
    mail: mails(message.mailKey)
  }))
  return ok({ ...ticket, messages: [{ ...first, created_at: ticket.created_at }, ...later] })
}

/** The tickets that a user sent while logged in. */
export const ownTicketList = (userId: number) =>
  defineList<ListInput<'id'>, OwnTicket>({
    name: 'own_tickets',
    table: tickets,
    id: tickets.id,
    sort: { id: tickets.id },
    match: () => ({ where: [eq(tickets.userId, userId)] }),
    load: async (db, ids) => {
      const rows = await db.select().from(tickets).where(among(tickets.id, ids))
      const last = await newestOf(db, ids, shownToCustomer)
      return rows.map(row => ownTicket(row, last.get(row.id)))
    }
  })

/** A user's ticket without notes. Those of others are 'not_found', as those that do not exist. */
export async function readOwnTicket(db: Executor, userId: number, id: number): Promise<Result<OwnTicketThread>> {
  const [row] = await db
    .select()
    .from(tickets)
    .where(and(eq(tickets.id, id), eq(tickets.userId, userId)))
  if (!row) return refuse('not_found')
  const later = await db
    .select()
    .from(ticketMessages)
    .where(and(eq(ticketMessages.ticketId, id), shownToCustomer))
    .orderBy(asc(ticketMessages.id))
  return ok({ ...ownTicket(row, later.at(-1)), messages: [firstOf(row), ...later.map(presentOwn)] })
}

/** On a row of `ticketMessages`: the customer may see it. */
export const shownToCustomer = ne(ticketMessages.author, 'note')

/** The newest message of each ticket that has one besides its first. */
export async function newestOf(
  db: Executor,
  ids: readonly number[],
  where: SQL | undefined
): Promise<Map<number, MessageRow>> {
  const rows = await db
    .selectDistinctOn([ticketMessages.ticketId])
    .from(ticketMessages)
    .where(and(among(ticketMessages.ticketId, ids), where))
    .orderBy(asc(ticketMessages.ticketId), desc(ticketMessages.id))
  return new Map(rows.map(row => [row.ticketId, row]))
}

const firstOf = (row: TicketRow) =>
  ({ id: 0, author: 'customer', text: row.message, created_at: iso(row.createdAt) }) as const

const presentOwn = ({ id, author, text, createdAt }: MessageRow) => ({
  id,
  author: author === 'customer' ? author : ('operator' as const),
  text,
  created_at: iso(createdAt)
})

const ownTicket = (row: TicketRow, last: MessageRow | undefined): OwnTicket => ({
  id: row.id,
  state: row.state,
  created_at: iso(row.createdAt),
  message: row.message,
  last: last ? presentOwn(last) : firstOf(row)
})

/** @returns the state of the mail with a key; null without a key */
async function mailsOf(db: Executor, rows: readonly MessageRow[]) {
  const outcomes = await mailOutcomes(
    db,
    rows.flatMap(({ mailKey }) => mailKey ?? [])
  )
  return (key: string | null): TicketMessage['mail'] =>
    key === null ? null : (outcomes.get(key) ?? { id: null, state: 'waiting', error: null, error_code: null })
}

export async function loadTickets(db: Executor, ids: number[]): Promise<Ticket[]> {
  const rows = await db.select().from(tickets).where(among(tickets.id, ids))
  const answers = await newestOf(db, ids, eq(ticketMessages.author, 'operator'))
  const mails = await mailsOf(db, [...answers.values()])
  const senders = await usersByEmail(
    db,
    rows.map(({ email }) => email)
  )
  const named = await usersById(db, [
    ...rows.flatMap(({ userId, assignee }) => [userId, assignee]),
    ...[...answers.values()].map(({ userId }) => userId)
  ])
  return rows.map(row => {
    const answer = answers.get(row.id)
    return {
      id: row.id,
      username: row.username,
      email: row.email,
      phone: row.phone,
      message: row.message,
      created_at: iso(row.createdAt),
      state: row.state,
      language: row.language,
      answer: answer?.text ?? null,
      answered_by: named.get(answer?.userId ?? 0)?.username ?? null,
      answered_at: isoOrNull(answer?.createdAt ?? null),
      mail: mails(answer?.mailKey ?? null),
      user: senders.get(row.email.toLowerCase()) ?? null,
      account: named.get(row.userId ?? 0) ?? null,
      assignee: named.get(row.assignee ?? 0) ?? null,
      waiting_since: row.state === 'open' ? iso(row.waitingSince ?? row.createdAt) : null
    }
  })
}

/** The current users of these addresses, by lowercase address. A join would read all users. */
async function usersByEmail(db: Executor, emails: string[]) {
  const wanted = [...new Set(emails.map(email => email.toLowerCase()))]
  const email = lower(users.email)
  const found = await db
    .select({ id: users.id, username: users.username, email })
    .from(users)
    .where(sql`${email} = any(${sql.param(wanted)}::text[])`)
  return new Map(found.map(({ id, username, email }) => [email, { id, username }]))
}

async function usersById(db: Executor, ids: (number | null)[]) {
  const wanted = [...new Set(ids.filter(id => id !== null))]
  const found = await db.select({ id: users.id, username: users.username }).from(users).where(among(users.id, wanted))
  return new Map(found.map(user => [user.id, user]))
}
