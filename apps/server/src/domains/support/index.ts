/**
 * Questions and answers for everyone, and the tickets that visitors send to the administrators. It owns faqs and
 * tickets. Others use its routes, and `createFaq` to fill a new shop.
 */
import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { createFaq, deleteFaq, updateFaq, faqList } from './faqs.ts'
import { deleteTicket, submitTicket, ticketList } from './tickets.ts'

export { createFaq } from './faqs.ts'
export { exportTickets, forgetSender } from './own-tickets.ts'

/** Puts the calls about questions, answers and tickets on the server. */
export function supportRoutes(mount: Mount, ctx: AppContext): void {
  const { support } = routes

  mountList(mount, ctx, support.faqs, () => faqList)
  mount(support.createFaq, async call => createFaq(ctx, call.caller, call.body))
  mount(support.updateFaq, async call => updateFaq(ctx, call.caller, call.params.id, call.body))
  mount(support.deleteFaq, async call => deleteFaq(ctx, call.caller, call.params.id))

  mount(support.createTicket, async ({ caller, body }) => submitTicket(ctx, caller, body))
  mountList(mount, ctx, support.tickets, () => ticketList)
  mount(support.deleteTicket, async call => deleteTicket(ctx, call.caller, call.params.id))
}
