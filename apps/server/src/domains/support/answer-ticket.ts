import { type Language, type Ticket, type TicketState, type TicketThread, refuse, rolesThatMay } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { countChanges } from '../../infra/audit-log.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, desc, eq, inArray } from '../../infra/db/drizzle.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { enqueueMail } from '../mail/index.ts'
import { ticketMessages, tickets } from './tables.ts'
import { type TicketRow, loadTickets, newestOf, shownToCustomer, readTicket } from './tickets.ts'

/** What a ticket holds besides its first message. It bounds the thread that each reader loads. */
export const MESSAGES_MOST = 200

type Answer = { answer: string; language?: Language | undefined; after?: number | undefined }

/**
 * Adds an answer and mails it to the ticket's sender, with the customer's newest message. An operator who has not read
 * the newest message gets 'ticket_moved', so two operators, or a form that is sent twice, cause one mail. A closed
 * ticket takes none ('ticket_not_open').
 */
export const answerTicket = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { answer, after, ...form }: Answer
): Promise<Result<TicketThread>> =>
  command(ctx, by, async unit => {
    const row = await lockTicket(unit, id)
    if (!row) return refuse('not_found')
    if (row.state === 'closed') return refuse('ticket_not_open')
    const newest = await newestMessage(unit, id)
    if (after === undefined && newest?.author === 'operator') return refuse('ticket_answered')
    if (after !== undefined && (newest?.id ?? 0) > after) return refuse('ticket_moved')
    const asked = await newestMessage(unit, id, 'customer')
    const added = await addMessage(unit, row, { author: 'operator', text: answer })
    if (!added.ok) return added
    const { language = row.language } = form
    await unit.tx.update(tickets).set({ state: 'answered', language }).where(eq(tickets.id, id))
    const key = `ticket:${id}:message:${added.data}`
    await unit.tx.update(ticketMessages).set({ mailKey: key }).where(eq(ticketMessages.id, added.data))
    enqueueMail(unit, {
      to: row.email,
      language,
      template: 'ticket-answer',
      data: {
        username: row.username,
        ticket: id,
        message: asked?.text ?? row.message,
        answer,
        own: row.userId !== null
      },
      key
    })
    unit.audit('ticket.answer', id, { before: { state: row.state }, after: { state: 'answered', language } })
    publish(unit, row)
    return readTicket(unit.tx, id)
  })

/** Adds a note for operators. The same note again, as the newest message, changes nothing. */
export const addNote = (ctx: AppContext, by: Actor, id: number, text: string): Promise<Result<TicketThread>> =>
  command(ctx, by, async unit => {
    const row = await lockTicket(unit, id)
    if (!row) return refuse('not_found')
    const added = await addMessage(unit, row, { author: 'note', text })
    if (!added.ok) return added
    unit.audit('ticket.note', id)
    return readTicket(unit.tx, id)
  })

/** Assigns a ticket to an operator who may answer it; null: to none. Otherwise 'no_assignee'. */
export const assignTicket = (
  ctx: AppContext,
  by: Actor,
  id: number,
  assignee: number | null
): Promise<Result<TicketThread>> =>
  command(ctx, by, async unit => {
    const row = await lockTicket(unit, id)
    if (!row) return refuse('not_found')
    const before = await readTicket(unit.tx, id)
    if (!before.ok || row.assignee === assignee) return before
    const to = assignee === null ? null : (await readAssignees(unit.tx)).find(one => one.id === assignee)
    if (to === undefined) return fieldRefusal('assignee', 'no_assignee')
    await unit.tx.update(tickets).set({ assignee }).where(eq(tickets.id, id))
    unit.audit('ticket.assign', id, {
      before: { assignee: before.data.assignee?.username ?? null },
      after: { assignee: to?.username ?? null }
    })
    return readTicket(unit.tx, id)
  })

/** The operators who may answer tickets, by name. */
export const readAssignees = (db: Executor): Promise<{ id: number; username: string }[]> =>
  db
    .select({ id: users.id, username: users.username })
    .from(users)
    .where(
      and(
        eq(users.isSuperuser, true),
        eq(users.isActive, true),
        inArray(users.operatorRole, rolesThatMay('tickets.change'))
      )
    )
    .orderBy(asc(users.username))

/** Closes a ticket. A repeat changes nothing. */
export const closeTicket = (ctx: AppContext, by: Actor, id: number, when: Expected = {}): Promise<Result<Changed>> =>
  command(ctx, by, unit => changeState(unit, id, { ...when, action: 'ticket.close', next: () => 'closed' }))

/** Reopens a closed ticket: as answered if an answer is its newest message, otherwise as open. */
export const reopenTicket = (ctx: AppContext, by: Actor, id: number, when: Expected = {}): Promise<Result<Changed>> =>
  command(ctx, by, unit =>
    changeState(unit, id, {
      ...when,
      action: 'ticket.reopen',
      next: async row => {
        if (row.state !== 'closed') return row.state
        return (await newestMessage(unit, id))?.author === 'operator' ? 'answered' : 'open'
      }
    })
  )

/** Deletes a ticket with its messages. */
export async function deleteTicket(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.delete(tickets).where(eq(tickets.id, id)).returning()
    if (!row) return refuse('not_found')
    const { username, email, phone, message, state, userId } = row
    unit.audit('ticket.delete', id, { before: { id, username, email, phone, message, state, user_id: userId } })
    publish(unit, row)
    return done
  })
}

/**
 * `expected`: the state that the ticket must be in, otherwise 'stale'. `changes`: how often its state has changed so
 * far, which also detects a change back and forth.
 */
type Expected = { expected?: TicketState | undefined; changes?: number | undefined }
type Changed = Ticket & { changes: number | null }

const CHANGES = ['ticket.answer', 'ticket.close', 'ticket.reopen'] as const

type Change = Expected & {
  action: 'ticket.close' | 'ticket.reopen'
  next: (row: TicketRow) => TicketState | Promise<TicketState>
}

async function changeState(
  unit: Unit,
  id: number,
  { action, next, expected, changes }: Change
): Promise<Result<Changed>> {
  const row = await lockTicket(unit, id)
  if (!row) return refuse('not_found')
  if (expected !== undefined && row.state !== expected) return refuse('stale')
  const made = await countChanges(unit.tx, id, CHANGES)
  if (changes !== undefined && made !== changes) return refuse('stale')
  const state = await next(row)
  if (state !== row.state) {
    await unit.tx.update(tickets).set({ state }).where(eq(tickets.id, id))
    unit.audit(action, id, { before: { state: row.state }, after: { state } })
    publish(unit, row)
  }
  const [now] = await loadTickets(unit.tx, [id])
  return now ? ok({ ...now, changes: state === row.state ? null : made + 1 }) : refuse('not_found')
}

export async function lockTicket({ tx }: Unit, id: number): Promise<TicketRow | undefined> {
  const [row] = await tx.select().from(tickets).where(eq(tickets.id, id)).for('update')
  return row
}

/** Tells the ticket's customer, besides the operators, whom an audit entry tells. */
export function publish(unit: Unit, { id, userId }: Pick<TicketRow, 'id' | 'userId'>): void {
  if (userId !== null) unit.publish('ticket', id, userId)
}

/** The newest message that the customer may see, or the customer's own; undefined: only the first one. */
async function newestMessage({ tx }: Unit, id: number, author?: 'customer') {
  return (await newestOf(tx, [id], author ? eq(ticketMessages.author, author) : shownToCustomer)).get(id)
}

type New = Pick<typeof ticketMessages.$inferInsert, 'author' | 'text'>

/**
 * Adds a message under the ticket's lock. The same words of the same author again, as the newest message, are a form that
 * was sent twice. Refuses 'ticket_full'.
 * @returns its id
 */
export async function addMessage(unit: Unit, { id }: TicketRow, { author, text }: New): Promise<Result<number>> {
  const { tx, by, now } = unit
  const userId = by.kind === 'user' ? (by.impersonator?.id ?? by.id) : null
  const [newest] = await tx
    .select()
    .from(ticketMessages)
    .where(eq(ticketMessages.ticketId, id))
    .orderBy(desc(ticketMessages.id))
    .limit(1)
  if (newest?.author === author && newest.userId === userId && newest.text === text) return ok(newest.id)
  if ((await tx.$count(ticketMessages, eq(ticketMessages.ticketId, id))) >= MESSAGES_MOST)
    return refuse('ticket_full', { params: { max: MESSAGES_MOST } })
  const [made] = await tx
    .insert(ticketMessages)
    .values({ ticketId: id, author, userId, text, createdAt: now })
    .returning({ id: ticketMessages.id })
  if (!made) throw new Error('the message was not added')
  return ok(made.id)
}
