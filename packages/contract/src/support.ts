import { z } from 'zod'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'
import { Done, IdParams, Time, text } from './shapes.ts'

export const Faq = z.object({ id: z.number(), question: z.string(), answer: z.string() })
export type Faq = z.infer<typeof Faq>
export const FaqForm = z.object({
  question: text('Please enter question', 1000),
  answer: text('Please enter answer', 10_000)
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

const missing = 'Please fill out the form first!'
export const TicketForm = z.object({
  username: text(missing, 64),
  email: z
    .string({ error: missing })
    .trim()
    .min(1, missing)
    .max(254)
    .pipe(z.email('Please input correct email format')),
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
      error: 'Please input the calculation results in the picture first!'
    }
  ),
  captcha_id: z.uuid('Please input the calculation results in the picture first!')
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
    body: FaqForm,
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
