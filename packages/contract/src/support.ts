import { z } from 'zod'
import { message } from './form-messages.ts'
import { LANGUAGES } from './languages.ts'
import { MAIL_FAILURES } from './mail.ts'
import { MAIL_STATES, TICKET_STATES } from './states.ts'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'
import { Done, IdParams, Time, formVersion, optionalText, text } from './shapes.ts'
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

export const Ticket = z.object({
  id: z.number(),
  username: z.string(),
  email: z.string(),
  phone: z.string(),
  message: z.string(),
  created_at: Time,
  state: z.enum(TICKET_STATES),
  /** The language of the answer. */
  language: z.enum(LANGUAGES),
  answer: z.string().nullable(),
  answered_by: z.string().nullable(),
  answered_at: Time.nullable(),
  /** The state of the answer's mail; null if there is none, or it is no longer stored. */
  mail: z
    .object({
      /** Null: no job has started on it. */
      id: z.number().nullable(),
      state: z.enum(MAIL_STATES),
      error: z.string().nullable(),
      error_code: z.enum(MAIL_FAILURES).nullable()
    })
    .nullable(),
  /** The user with this e-mail address, which anyone could have typed. */
  user: z.object({ id: z.number(), username: z.string() }).nullable()
})
export type Ticket = z.infer<typeof Ticket>

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
  language: z.enum(LANGUAGES, { error: message('must_select') }).optional()
})

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
    query: listQuery({ sort: ['id'], filters: { state: z.enum(TICKET_STATES).optional() } }),
    reply: page(Ticket)
  }),
  userTickets: route('GET', '/api/users/u/:id/tickets/', {
    summary: "Tickets from a user's email address",
    access: 'admin',
    permission: 'users.view',
    params: IdParams,
    query: listQuery({ sort: ['id'] }),
    reply: page(Ticket)
  }),
  ticket: route('GET', `${T}/ticket/:id/`, {
    summary: 'A ticket',
    access: 'admin',
    permission: 'tickets.view',
    params: IdParams,
    reply: Ticket
  }),
  answerTicket: route('POST', `${T}/ticket/:id/answer/`, {
    summary: 'Reply to a ticket by email, once; the reply is kept',
    access: 'admin',
    permission: 'tickets.change',
    params: IdParams,
    body: TicketAnswerForm,
    reply: Ticket
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
  })
}
