import { z } from 'zod'
import { message } from './form-messages.ts'
import { LANGUAGES } from './languages.ts'
import { MAIL_FAILURES } from './mail.ts'
import { MAIL_STATES, TICKET_QUEUES, TICKET_STATES } from './states.ts'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'
import { Done, Id, IdParams, Time, formVersion, optionalText, text } from './shapes.ts'
import { Translations, translationsForm } from './translations.ts'

export const Faq = z.object({
  id: z.number(),
  question: z.string(),
  answer: z.string(),
  translations: Translations,
  version: z.string()
})
export type Faq = z.infer<typeof Faq>
export const FaqForm = z.object({
  question: text(message('enter_question'), 1000),
  answer: text(message('enter_answer'), 10_000),
  translations: translationsForm({ question: optionalText(1000), answer: optionalText(10_000) })
})
export type FaqForm = z.output<typeof FaqForm>

/** The state of an email to the ticket's sender. */
const MessageMail = z.object({
  /** Null: no job has started on it. */
  id: z.number().nullable(),
  state: z.enum(MAIL_STATES),
  error: z.string().nullable(),
  error_code: z.enum(MAIL_FAILURES).nullable()
})

const Person = z.object({ id: z.number(), username: z.string() })

export const Ticket = z.object({
  id: z.number(),
  username: z.string(),
  email: z.string(),
  phone: z.string(),
  /** The first message. */
  message: z.string(),
  created_at: Time,
  state: z.enum(TICKET_STATES),
  /** The language of the answers. */
  language: z.enum(LANGUAGES),
  /** The newest answer. */
  answer: z.string().nullable(),
  answered_by: z.string().nullable(),
  answered_at: Time.nullable(),
  /** The state of the answer's mail; null if there is none, or it is no longer stored. */
  mail: MessageMail.nullable(),
  /** The user with this e-mail address, which anyone could have typed. */
  user: Person.nullable(),
  /** The user who was logged in when sending it. */
  account: Person.nullable(),
  /** The operator who takes care of it. */
  assignee: Person.nullable(),
  /** Since when the customer waits for an answer; null unless the ticket is open. */
  waiting_since: Time.nullable()
})
export type Ticket = z.infer<typeof Ticket>

export const MESSAGE_AUTHORS = ['customer', 'operator', 'note'] as const
export const TicketMessage = z.object({
  /** 0: the ticket's first message. */
  id: z.number(),
  /** A note is for operators only. */
  author: z.enum(MESSAGE_AUTHORS),
  /** The operator's name; null for the customer, and if the operator no longer exists. */
  by: z.string().nullable(),
  text: z.string(),
  created_at: Time,
  /** Of an operator's message. */
  mail: MessageMail.nullable()
})
export type TicketMessage = z.infer<typeof TicketMessage>

/** A ticket with all that was written, oldest first. */
export const TicketThread = Ticket.extend({ messages: z.array(TicketMessage) })
export type TicketThread = z.infer<typeof TicketThread>

/** A ticket as its customer sees it: no operator's name and no note. */
const OwnMessage = TicketMessage.omit({ by: true, mail: true }).extend({ author: z.enum(['customer', 'operator']) })
export const OwnTicket = z.object({
  id: z.number(),
  state: z.enum(TICKET_STATES),
  created_at: Time,
  /** The first message, and the newest one. */
  message: z.string(),
  last: OwnMessage
})
export type OwnTicket = z.infer<typeof OwnTicket>
export const OwnTicketThread = OwnTicket.extend({ messages: z.array(OwnMessage) })
export type OwnTicketThread = z.infer<typeof OwnTicketThread>

const missing = message('fill_out_form')
export const TicketForm = z.object({
  username: text(missing, 64),
  email: z
    .string({ error: missing })
    .trim()
    .min(1, missing)
    .max(254)
    .pipe(z.email(message('email_format'))),
  phone: text(missing, 32),
  message: text(missing, 5000),
  captcha: z.union(
    [
      z.number(),
      z
        .string()
        .trim()
        .regex(/^-?\d{1,6}$/, message('solve_captcha'))
        .transform(Number)
    ],
    {
      error: message('solve_captcha')
    }
  ),
  captcha_id: z.uuid(message('solve_captcha'))
})

export const TicketAnswerForm = z.object({
  answer: text(message('enter_answer'), 10_000),
  /** Default: the sender's. */
  language: z.enum(LANGUAGES, { error: message('must_select') }).optional(),
  /**
   * The id of the newest message that the operator has read: refused if there is a newer one. Without it, a ticket that
   * waits for no answer takes none.
   */
  after: z.int().nonnegative().optional()
})

/** A customer's message in a ticket. */
export const TicketMessageForm = z.object({ text: text(missing, 5000) })
export const TicketNoteForm = z.object({ text: text(message('enter_note'), 10_000) })

export const SavedReply = z.object({ id: z.number(), title: z.string(), text: z.string(), version: z.string() })
export type SavedReply = z.infer<typeof SavedReply>
export const SavedReplyForm = z.object({
  title: text(message('enter_title'), 100),
  text: text(message('enter_answer'), 10_000)
})
export type SavedReplyForm = z.output<typeof SavedReplyForm>

/**
 * `expected`: refused as stale if the ticket's state differs. `changes`, from an earlier answer: also refused if the
 * state has changed since, even back to `expected`.
 */
const TicketStateForm = z
  .object({ expected: z.enum(TICKET_STATES).optional(), changes: z.int().nonnegative().optional() })
  .optional()
/** `changes` counts the changes of state, including this one; null if this call changed nothing. */
const ChangedTicket = Ticket.extend({ changes: z.number().nullable() })

const T = '/api/tickets'

export const support = {
  faqs: route('GET', `${T}/fqa/`, {
    summary: 'Questions and answers',
    access: 'public',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(Faq)
  }),
  createFaq: route('POST', `${T}/fqa/`, {
    summary: 'Add a question',
    access: 'admin',
    permission: 'tickets.change',
    body: FaqForm,
    reply: Faq
  }),
  updateFaq: route('PUT', `${T}/fqa/:id/`, {
    summary: 'Edit a question',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: FaqForm.extend(formVersion),
    reply: Faq
  }),
  deleteFaq: route('DELETE', `${T}/fqa/:id/`, {
    summary: 'Delete a question',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    reply: Done
  }),
  restoreFaq: route('POST', `${T}/fqa/:id/restore/`, {
    summary: 'Restore a deleted question',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Faq
  }),
  createTicket: route('POST', `${T}/ticket/`, {
    summary: 'Send a ticket',
    access: 'public',
    body: TicketForm,
    reply: Done
  }),
  tickets: route('GET', `${T}/ticket/`, {
    summary: 'Tickets',
    access: 'admin',
    permission: 'tickets.view',
    query: listQuery({
      sort: ['id', 'waiting_since'],
      filters: {
        state: z.enum(TICKET_STATES).optional(),
        /** Of tickets that are not closed: the caller's, those without an assignee, those that wait for an answer. */
        queue: z.enum(TICKET_QUEUES).optional()
      }
    }),
    reply: page(Ticket)
  }),
  userTickets: route('GET', '/api/users/u/:id/tickets/', {
    summary: "Tickets from a user's account and email address",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    query: listQuery({ sort: ['id'] }),
    reply: page(Ticket)
  }),
  ticket: route('GET', `${T}/ticket/:id/`, {
    summary: 'A ticket with its messages',
    access: 'admin',
    permission: 'tickets.view',
    params: IdParams,
    reply: TicketThread
  }),
  answerTicket: route('POST', `${T}/ticket/:id/answer/`, {
    summary: 'Reply to a ticket by email; the reply is kept',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: TicketAnswerForm,
    reply: TicketThread
  }),
  addNote: route('POST', `${T}/ticket/:id/note/`, {
    summary: 'Add an internal note, which the customer never sees',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: TicketNoteForm,
    reply: TicketThread
  }),
  assignTicket: route('POST', `${T}/ticket/:id/assign/`, {
    summary: 'Assign a ticket to an operator who may answer it; null removes the assignee',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: z.object({ assignee: Id.nullable() }),
    reply: TicketThread
  }),
  assignees: route('GET', `${T}/assignees/`, {
    summary: 'The operators who may answer tickets',
    access: 'admin',
    permission: 'tickets.view',
    reply: z.array(Person)
  }),
  closeTicket: route('POST', `${T}/ticket/:id/close/`, {
    summary: 'Close a ticket',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: TicketStateForm,
    reply: ChangedTicket
  }),
  reopenTicket: route('POST', `${T}/ticket/:id/reopen/`, {
    summary: 'Reopen a closed ticket',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: TicketStateForm,
    reply: ChangedTicket
  }),
  deleteTicket: route('DELETE', `${T}/ticket/:id/`, {
    summary: 'Delete a ticket',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    reply: Done
  }),
  ownTickets: route('GET', `${T}/own/`, {
    summary: 'Your tickets: those that you sent while logged in',
    access: 'user',
    query: listQuery({ sort: ['id'] }),
    reply: page(OwnTicket)
  }),
  ownTicket: route('GET', `${T}/own/:id/`, {
    summary: 'One of your tickets with its messages',
    access: 'user',
    params: IdParams,
    reply: OwnTicketThread
  }),
  writeInTicket: route('POST', `${T}/own/:id/message/`, {
    summary: 'Write in one of your tickets, until it is closed',
    access: 'user',
    params: IdParams,
    body: TicketMessageForm,
    reply: OwnTicketThread
  }),
  savedReplies: route('GET', `${T}/saved_reply/`, {
    summary: 'Saved replies to tickets',
    access: 'admin',
    permission: 'tickets.view',
    query: listQuery({ sort: ['title', 'id'], order: 'asc' }),
    reply: page(SavedReply)
  }),
  createSavedReply: route('POST', `${T}/saved_reply/`, {
    summary: 'Add a saved reply',
    access: 'admin',
    permission: 'tickets.change',
    body: SavedReplyForm,
    reply: SavedReply
  }),
  updateSavedReply: route('PUT', `${T}/saved_reply/:id/`, {
    summary: 'Edit a saved reply',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: SavedReplyForm.extend(formVersion),
    reply: SavedReply
  }),
  deleteSavedReply: route('DELETE', `${T}/saved_reply/:id/`, {
    summary: 'Delete a saved reply',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    reply: Done
  })
}
