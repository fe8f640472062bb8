/**
 * Questions and answers for everyone, and the tickets that visitors send to the administrators. It owns faqs and
 * tickets. Others use its routes, and `createFaq` to fill a new shop.
 */
import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createFaq, deleteFaq, listFaqs, updateFaq } from './faqs.ts'
import { deleteTicket, listTickets, submitTicket } from './tickets.ts'

export { createFaq } from './faqs.ts'

/** Puts the calls about questions, answers and tickets on the server. */
export function supportRoutes(mount: Mount, ctx: AppContext): void {
  const { db } = ctx
  const { support } = routes

  mount(support.faqs, async ({ query }) => ok(await listFaqs(db, query)))
  mount(support.createFaq, async call => createFaq(ctx, call.caller, call.body))
  mount(support.updateFaq, async call => updateFaq(ctx, call.caller, call.params.id, call.body))
  mount(support.deleteFaq, async call => deleteFaq(ctx, call.caller, call.params.id))

  mount(support.createTicket, async ({ caller, body }) => submitTicket(ctx, caller, body))
  mount(support.tickets, async ({ query }) => ok(await listTickets(db, query)))
  mount(support.deleteTicket, async call => deleteTicket(ctx, call.caller, call.params.id))
}
