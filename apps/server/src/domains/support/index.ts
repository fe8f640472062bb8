/**
 * Questions and answers for everyone, and tickets: what visitors and customers write to the operators, their answers,
 * notes and saved replies. It owns faqs, tickets, ticket_messages and saved_replies. Other domains use `createFaq` to
 * fill a new shop.
 */
import { preferredLanguage, routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { ok } from '../../infra/result.ts'
import {
  addNote,
  answerTicket,
  assignTicket,
  closeTicket,
  deleteTicket,
  readAssignees,
  reopenTicket
} from './answer-ticket.ts'
import { createFaq, deleteFaq, faqList, restoreFaq, updateFaq } from './faqs.ts'
import { createSavedReply, deleteSavedReply, savedReplyList, updateSavedReply } from './saved-replies.ts'
import { submitTicket, writeInTicket } from './send-ticket.ts'
import { countOpenTickets, ownTicketList, readOwnTicket, readTicket, ticketList, userTicketList } from './tickets.ts'
import type { NoticeFinder } from '../notices/index.ts'

export { createFaq } from './faqs.ts'
export { exportTickets, forgetSender } from './senders.ts'
export { countOpenTickets } from './tickets.ts'

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
  mountList(mount, ctx, support.ownTickets, ({ caller }) => ownTicketList(caller.id))
  mount(support.ownTicket, ({ caller, params }) => readOwnTicket(ctx.db, caller.id, params.id))
  mount(support.writeInTicket, async call => writeInTicket(ctx, call.caller, call.params.id, call.body.text))

  mountList(mount, ctx, support.tickets, ({ caller }) => ticketList(caller))
  mountList(mount, ctx, support.userTickets, ({ params }) => userTicketList(params.id))
  mount(support.ticket, async call => readTicket(ctx.db, call.params.id))
  mount(support.answerTicket, async call => answerTicket(ctx, call.caller, call.params.id, call.body))
  mount(support.addNote, async call => addNote(ctx, call.caller, call.params.id, call.body.text))
  mount(support.assignTicket, async call => assignTicket(ctx, call.caller, call.params.id, call.body.assignee))
  mount(support.assignees, async () => ok(await readAssignees(ctx.db)))
  mount(support.closeTicket, async call => closeTicket(ctx, call.caller, call.params.id, call.body))
  mount(support.reopenTicket, async call => reopenTicket(ctx, call.caller, call.params.id, call.body))
  mount(support.deleteTicket, async call => deleteTicket(ctx, call.caller, call.params.id))

  mountList(mount, ctx, support.savedReplies, () => savedReplyList)
  mount(support.createSavedReply, async call => createSavedReply(ctx, call.caller, call.body))
  mount(support.updateSavedReply, async call => updateSavedReply(ctx, call.caller, call.params.id, call.body))
  mount(support.deleteSavedReply, async call => deleteSavedReply(ctx, call.caller, call.params.id))
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
