/**
 * Questions and answers for everyone, and tickets from visitors to the administrators. It owns faqs and tickets. Other
 * domains use `createFaq` to fill a new shop.
 */
import { preferredLanguage, routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { createFaq, deleteFaq, faqList, restoreFaq, updateFaq } from './faqs.ts'
import {
  answerTicket,
  closeTicket,
  countOpenTickets,
  deleteTicket,
  readTicket,
  reopenTicket,
  submitTicket,
  ticketList,
  userTicketList
} from './tickets.ts'
import type { NoticeFinder } from '../notices/index.ts'

export { createFaq } from './faqs.ts'
export { countOpenTickets, exportTickets, forgetSender } from './tickets.ts'

export function supportRoutes(mount: Mount, ctx: AppContext): void {
  const { support } = routes

  mountList(mount, ctx, support.faqs, () => faqList)
  mount(support.createFaq, async call => createFaq(ctx, call.caller, call.body))
  mount(support.updateFaq, async call => updateFaq(ctx, call.caller, call.params.id, call.body))
  mount(support.deleteFaq, async call => deleteFaq(ctx, call.caller, call.params.id))
  mount(support.restoreFaq, async call => restoreFaq(ctx, call.caller, call.params.id))

  mount(support.createTicket, async ({ caller, body, request }) =>
    submitTicket(ctx, caller, body, preferredLanguage(request.headers['accept-language']))
  )
  mountList(mount, ctx, support.tickets, () => ticketList)
  mountList(mount, ctx, support.userTickets, ({ params }) => userTicketList(params.id))
  mount(support.ticket, async call => readTicket(ctx.db, call.params.id))
  mount(support.answerTicket, async call => answerTicket(ctx, call.caller, call.params.id, call.body))
  mount(support.closeTicket, async call => closeTicket(ctx, call.caller, call.params.id, call.body))
  mount(support.reopenTicket, async call => reopenTicket(ctx, call.caller, call.params.id, call.body))
  mount(support.deleteTicket, async call => deleteTicket(ctx, call.caller, call.params.id))
}

export const supportFinders: NoticeFinder[] = [
  {
    cause: 'tickets',
    every: 1,
    async find({ db }) {
      const count = await countOpenTickets(db)
      return count === 0 ? [] : [{ subject: '', words: 'tickets', params: { count }, count }]
    }
  }
]
