import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'
import { Done, IdParams, Time, formVersion, text } from './shapes.ts'

export const Faq = z.object({ id: z.number(), question: z.string(), answer: z.string(), version: z.string() })
export type Faq = z.infer<typeof Faq>
export const FaqForm = z.object({
  question: text(message('enter_question'), 1000),
  answer: text(message('enter_answer'), 10_000)
})

export const Ticket = z.object({
  id: z.number(),
  username: z.string(),
  email: z.string(),
  phone: z.string(),
  message: z.string(),
  created_at: Time
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
        .regex(/^-?\d{1,6}$/)
        .transform(Number)
    ],
    {
      error: message('solve_captcha')
    }
  ),
  captcha_id: z.uuid(message('solve_captcha'))
})

const T = '/api/tickets'

export const support = {
  faqs: route('GET', `${T}/fqa/`, {
    summary: 'Questions and answers',
    access: 'public',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(Faq)
  }),
  createFaq: route('POST', `${T}/fqa/`, { summary: 'Add a question', access: 'admin', body: FaqForm, reply: Faq }),
  updateFaq: route('PUT', `${T}/fqa/:id/`, {
    summary: 'Edit a question',
    access: 'admin',
    params: IdParams,
    body: FaqForm.extend(formVersion),
    reply: Faq
  }),
  deleteFaq: route('DELETE', `${T}/fqa/:id/`, {
    summary: 'Delete a question',
    access: 'admin',
    params: IdParams,
    reply: Done
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
    query: listQuery({ sort: ['id'] }),
    reply: page(Ticket)
  }),
  deleteTicket: route('DELETE', `${T}/ticket/:id/`, {
    summary: 'Delete a ticket',
    access: 'admin',
    params: IdParams,
    reply: Done
  })
}
