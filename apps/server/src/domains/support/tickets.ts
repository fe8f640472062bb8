import { type Language, type Ticket, type TicketState, refuse } from '@netlet/contract'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { countChanges } from '../../infra/audit-log.ts'
import { HOUR, iso, isoOrNull } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { and, asc, eq, gt, sql } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { limitedClient, networksOf, widestNetwork } from '../../infra/http/client-address.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { countForwarded, tryCaptcha } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { enqueueMail, mailOutcomes } from '../mail/index.ts'
import { tickets } from './tables.ts'

type Query = ListInput<'id'> & { state?: TicketState | undefined }

/** Tickets by sender and text. */
export const ticketList = defineList<Query, Ticket>({
  name: 'tickets',
  table: tickets,
  id: tickets.id,
  sort: { id: tickets.id },
  match: (_db, { search, state }) => ({
    where: [state === undefined ? undefined : eq(tickets.state, state)],
    text: search
      ? { in: sql`(${tickets.username} || ' ' || ${tickets.email} || ' ' || ${tickets.message})`, term: search }
      : undefined
  }),
  load: loadTickets
})

export const countOpenTickets = (db: Executor): Promise<number> => db.$count(tickets, eq(tickets.state, 'open'))

/** Tickets with a user's current e-mail address. Another person may have sent them before. */
export const userTicketList = (userId: number) =>
  defineList<Query, Ticket>({
    ...ticketList,
    name: 'user_tickets',
    match: async db => {
      const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
      return { where: [user ? eq(lower(tickets.email), user.email.toLowerCase()) : sql`false`] }
    }
  })

export async function readTicket(db: Executor, id: number): Promise<Result<Ticket>> {
  const [ticket] = await loadTickets(db, [id])
  return ticket ? ok(ticket) : refuse('not_found')
}

/**
 * Mails the answer to the ticket's sender and stores it. A ticket is answered once: 'ticket_answered' otherwise, so
 * that two administrators, or a form that is sent twice, cause one mail.
 */
export const answerTicket = (
  ctx: AppContext,
  by: Actor,
  id: number,
  form: { answer: string; language?: Language | undefined }
): Promise<Result<Ticket>> =>
  command(ctx, by, async unit => {
    const row = await lockTicket(unit, id)
    if (!row) return refuse('not_found')
    if (row.answer !== null) return refuse('ticket_answered')
    const { answer, language = row.language } = form
    const answeredBy = by.kind === 'user' ? (by.impersonator?.id ?? by.id) : null
    await unit.tx
      .update(tickets)
      .set({ state: 'answered', answer, language, answeredBy, answeredAt: unit.now })
      .where(eq(tickets.id, id))
    enqueueMail(unit, {
      to: row.email,
      language,
      template: 'ticket-answer',
      data: { username: row.username, ticket: id, message: row.message, answer },
      key: answerKey(id)
    })
    unit.audit('ticket.answer', id, { before: { state: row.state }, after: { state: 'answered', language } })
    return readTicket(unit.tx, id)
  })

/** Closes a ticket. A repeat changes nothing. */
export const closeTicket = (ctx: AppContext, by: Actor, id: number, when: Expected = {}): Promise<Result<Changed>> =>
  command(ctx, by, unit => changeState(unit, id, { ...when, action: 'ticket.close', next: () => 'closed' }))

/** Reopens a closed ticket: as answered if it has an answer, otherwise as open. */
export const reopenTicket = (ctx: AppContext, by: Actor, id: number, when: Expected = {}): Promise<Result<Changed>> =>
  command(ctx, by, unit =>
    changeState(unit, id, {
      ...when,
      action: 'ticket.reopen',
      next: row => (row.state !== 'closed' ? row.state : row.answer === null ? 'open' : 'answered')
    })
  )

export async function deleteTicket(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.delete(tickets).where(eq(tickets.id, id)).returning()
    if (!row) return refuse('not_found')
    const { username, email, phone, message, state, answer } = row
    unit.audit('ticket.delete', id, { before: { id, username, email, phone, message, state, answer } })
    return done
  })
}

type Row = typeof tickets.$inferSelect

/**
 * `expected`: the state that the ticket must be in, otherwise 'stale'. `changes`: how often its state has changed so
 * far, which also detects a change back and forth.
 */
type Expected = { expected?: TicketState | undefined; changes?: number | undefined }
type Changed = Ticket & { changes: number | null }

const CHANGES = ['ticket.answer', 'ticket.close', 'ticket.reopen'] as const

async function changeState(
  unit: Unit,
  id: number,
  {
    action,
    next,
    expected,
    changes
  }: Expected & { action: 'ticket.close' | 'ticket.reopen'; next: (row: Row) => TicketState }
): Promise<Result<Changed>> {
  const row = await lockTicket(unit, id)
  if (!row) return refuse('not_found')
  if (expected !== undefined && row.state !== expected) return refuse('stale')
  const made = await countChanges(unit.tx, id, CHANGES)
  if (changes !== undefined && made !== changes) return refuse('stale')
  const state = next(row)
  if (state !== row.state) {
    await unit.tx.update(tickets).set({ state }).where(eq(tickets.id, id))
    unit.audit(action, id, { before: { state: row.state }, after: { state } })
  }
  const now = await readTicket(unit.tx, id)
  return now.ok ? ok({ ...now.data, changes: state === row.state ? null : made + 1 }) : now
}

async function lockTicket({ tx }: Unit, id: number): Promise<Row | undefined> {
  const [row] = await tx.select().from(tickets).where(eq(tickets.id, id)).for('update')
  return row
}

const answerKey = (id: number) => `ticket:${id}:answer`

async function loadTickets(db: Executor, ids: number[]): Promise<Ticket[]> {
  const rows = await db
    .select({ ticket: tickets, answeredBy: users.username })
    .from(tickets)
    .leftJoin(users, eq(users.id, tickets.answeredBy))
    .where(among(tickets.id, ids))
  const senders = await usersByEmail(
    db,
    rows.map(({ ticket }) => ticket.email)
  )
  const outcomes = await mailOutcomes(
    db,
    rows.filter(({ ticket }) => ticket.answer !== null).map(({ ticket }) => answerKey(ticket.id))
  )
  return rows.map(({ ticket, answeredBy }) => ({
    id: ticket.id,
    username: ticket.username,
    email: ticket.email,
    phone: ticket.phone,
    message: ticket.message,
    created_at: iso(ticket.createdAt),
    state: ticket.state,
    language: ticket.language,
    answer: ticket.answer,
    answered_by: answeredBy,
    answered_at: isoOrNull(ticket.answeredAt),
    mail:
      ticket.answer === null
        ? null
        : (outcomes.get(answerKey(ticket.id)) ?? { id: null, state: 'waiting', error: null, error_code: null }),
    user: senders.get(ticket.email.toLowerCase()) ?? null
  }))
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

const sentWith = (email: string) => eq(lower(tickets.email), email.toLowerCase())

export async function forgetSender(unit: Unit, email: string): Promise<void> {
  const removed = await unit.tx.delete(tickets).where(sentWith(email)).returning({ id: tickets.id })
  for (const { id } of removed) unit.publish('ticket', id)
}

/** The tickets with this e-mail address for the export of personal data, in batches. */
export async function* exportTickets(db: Executor, email: string): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select()
      .from(tickets)
      .where(and(sentWith(email), gt(tickets.id, after)))
      .orderBy(asc(tickets.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(row => ({
      username: row.username,
      email: row.email,
      phone: row.phone,
      message: row.message,
      state: row.state,
      answer: row.answer,
      created_at: iso(row.createdAt)
    }))
}

/** Tickets that one client may send in an hour. */
export const TICKETS_AN_HOUR = 10

type TicketInput = {
  username: string
  email: string
  phone: string
  message: string
  captcha: number
  captcha_id: string
}

/**
 * Stores a ticket after a captcha, which is used up in any case. Refuses 'wrong_captcha', and 'too_many' after too many
 * tickets or wrong answers of this client within an hour.
 */
export async function submitTicket(
  ctx: AppContext,
  by: UserActor | VisitorActor,
  { captcha, captcha_id, ...ticket }: TicketInput,
  language: Language = 'en'
): Promise<Result<null>> {
  // Before the command that may be refused, because a refused ticket must not restore its captcha.
  const refused = await tryCaptcha(ctx, by, { id: captcha_id, answer: captcha })
  if (refused) return refused
  const client = limitedClient(by)
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    await lock(tx, 'ticketClient', widestNetwork(client))
    const recent = gt(tickets.createdAt, new Date(now.getTime() - HOUR))
    for (const { cidr, timesAll } of networksOf(client)) {
      const sent = await tx.$count(tickets, and(sql`${tickets.clientIp} <<= ${cidr}::inet`, recent))
      if (sent >= TICKETS_AN_HOUR * timesAll) return refuse('too_many')
    }
    const flooded = await countForwarded(unit, by, 'ticket')
    if (flooded) return flooded
    const [made] = await tx
      .insert(tickets)
      .values({ ...ticket, language, clientIp: client, createdAt: now })
      .returning({ id: tickets.id })
    unit.publish('ticket', made?.id)
    return done
  })
}
