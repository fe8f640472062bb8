import { routes } from '@netlet/contract'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { blockedList, liftBlock, receiveEvents } from './blocked-addresses.ts'
import { mailList, readMail, sendAgain } from './send-again.ts'
import { checkSender } from './sender-check.ts'
import { unsubscribe } from './choices.ts'
import { unsubscribePage } from './layout.ts'
import { previewTemplates } from './render-mail.ts'

/** The log of mails, blocked addresses and template previews for administrators, and reports of mail services. */
export function mailRoutes(mount: Mount, ctx: AppContext): void {
  mountList(mount, ctx, routes.mail.mails, () => mailList)
  mount(routes.mail.mail, ({ caller, params }) => readMail(ctx, caller, params.id))
  mount(routes.mail.sendAgain, ({ caller, params }) => sendAgain(ctx, caller, params.id))
  mountList(mount, ctx, routes.mail.blocks, () => blockedList)
  mount(routes.mail.liftBlock, ({ caller, params }) => liftBlock(ctx, caller, params.id))
  mount(routes.mail.senderCheck, async () => ok(await checkSender(ctx)))
  mount(routes.mail.sendgridEvents, ({ request }) => receiveEvents(ctx, request, 'sendgrid'))
  mount(routes.mail.mailgunEvents, ({ request }) => receiveEvents(ctx, request, 'mailgun'))
  mount(routes.mail.templates, () => Promise.resolve(ok(previewTemplates(ctx))))
}

/** The targets of links in mails. Mail programs post a form to them, so they need a form parser. */
export function unsubscribeRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.mail.openUnsubscribe, async ({ query, reply }) => {
    await reply.redirect(unsubscribePage('', encodeURIComponent(query.token)))
    return SENT
  })
  mount(routes.mail.unsubscribe, ({ caller, query }) => unsubscribe(ctx, caller, query.token))
}
