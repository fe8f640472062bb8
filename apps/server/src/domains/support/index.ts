import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { clientAddress, clientNetwork } from '../accounts/index.ts'
import { createFaq, deleteFaq, faqList, updateFaq } from './faqs.ts'
import { deleteTicket, ticketList, submitTicket } from './tickets.ts'

export { createFaq } from './faqs.ts'

/** Puts the calls about questions, answers and tickets on the server. */
export function supportRoutes(mount: Mount, ctx: AppContext): void {
  const { db } = ctx
  const { support } = routes

  mountList(mount, ctx, support.faqs, () => faqList)
  mount(support.createFaq, async call => createFaq(db, call.caller, call.body))
  mount(support.updateFaq, async call => updateFaq(db, call.caller, call.params.id, call.body))
  mount(support.deleteFaq, async call => deleteFaq(db, call.caller, call.params.id))

  mount(support.createTicket, async ({ body, request }) =>
    submitTicket(ctx, { ...body, client: clientNetwork(clientAddress(request)) })
  )
  mountList(mount, ctx, support.tickets, () => ticketList)
  mount(support.deleteTicket, async call => deleteTicket(db, call.caller, call.params.id))
}
