import { routes } from '@netlet/contract'
import { type Mount, SENT } from '../../infra/http/mount.ts'
import { among, mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { blockedList, liftBlock, receiveEvents } from './blocked-addresses.ts'
import { mailList, readMail, sendAgain } from './send-again.ts'
import { checkSender } from './sender-check.ts'
import { unsubscribe } from './choices.ts'
import { unsubscribePage } from './layout.ts'
import { previewTemplates } from './render-mail.ts'
import { job, type Job } from '../../infra/job.ts'
import { gatherMailQueue, sendGathered } from './gather.ts'
import { sendMail, sendMailQueue } from './send-mail.ts'
import { and, lt, ne } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { countRows, removeRows, removeRowsGiving, type RetentionEntry } from '../../infra/retention.ts'
import { mailContents, mails, reportTokens } from './tables.ts'

/**
 * Mail: templates, layout, the job that sends, the log, and who wants which mails. It owns mails, mail_choices,
 * mail_blocks, mail_parts and mail_report_tokens. Other domains only call `enqueueMail` and `gatherMail` within their
 * command.
 */
export { blockedAmong, blockOf } from './blocked-addresses.ts'
export { moveChoices, readChoices, saveChoices } from './choices.ts'
export { type Recipient, exportMails, forgetAddress, forgetWaitingMails } from './recipient.ts'
export { mailOutcomes, mailStates } from './record.ts'
export { canBeSentAgain, keysOfCopies } from './send-again.ts'
export { mailTroubles, refusedMail, unsentMails, waitingMails } from './unsent.ts'
export { gatherMail } from './gather.ts'
export { DELETED_HOST, enqueueMail, mailIsSetUp, sendMailQueue } from './send-mail.ts'
export type { GatheredTemplate, TemplateData } from './templates/index.ts'
export { sendTestMail } from './sender-check.ts'
export { type RefundEffect, type WhyNotDelivered } from './templates/payments.ts'

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
  mount(routes.mail.templates, async () => ok(await previewTemplates(ctx)))
}

/** The targets of links in mails. Mail programs post a form to them, so they need a form parser. */
export function unsubscribeRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.mail.openUnsubscribe, async ({ query, reply }) => {
    await reply.redirect(unsubscribePage('', encodeURIComponent(query.token)))
    return SENT
  })
  mount(routes.mail.unsubscribe, ({ caller, query }) => unsubscribe(ctx, caller, query.token))
}

export const mailJobs: Job[] = [
  job(sendMailQueue, {
    purpose:
      'Sends an email: codes first, then emails about one person’s matter, mass emails, and reminders. If the email service fails, it retries for about 24 hours.',
    concurrency: 4,
    importance: 'background',
    // Codes must leave even if many reminders wait and the mail service is slow.
    reserved: 2,
    run: (ctx, request, jobId) => sendMail(ctx, request, jobId)
  }),
  job(gatherMailQueue, {
    purpose: 'Combines the emails of one bulk action to the same customer into one.',
    importance: 'background',
    run: (ctx, gathering) => sendGathered(ctx, gathering)
  })
]

/** Also deletes the data that the mails were made of, except for failed ones, which may be sent again. */
async function removeContents(unit: Unit, before: Date, limit: number): Promise<number> {
  const ids = await removeRowsGiving(unit, mailContents.mailId, lt(mailContents.createdAt, before), limit)
  if (ids.length > 0)
    await unit.tx
      .update(mails)
      .set({ carried: null })
      .where(and(among(mails.id, ids), ne(mails.state, 'failed')))
  return ids.length
}

export const mailRetention: RetentionEntry[] = [
  {
    what: 'mails',
    keep: { setting: 'keep_mails_days' },
    why: 'Who got which email. While an email is kept, the shop does not send another about the same event.',
    remove: (unit, before, limit) =>
      removeRows(unit, mails, and(lt(mails.createdAt, before), ne(mails.state, 'waiting')), limit),
    count: db => countRows(db, mails, mails.createdAt)
  },
  {
    what: 'mail_contents',
    keep: { setting: 'keep_mail_contents_days' },
    why: 'Contents of emails, without codes and personal links. Needed to check what a recipient was sent, and to resend it.',
    remove: removeContents,
    count: db => countRows(db, mailContents, mailContents.createdAt)
  },
  {
    what: 'mail_report_tokens',
    keep: { ms: DAY },
    why: 'Accepted reports of the email service. Each signature counts once and expires after 12 hours.',
    remove: (unit, before, limit) => removeRows(unit, reportTokens, lt(reportTokens.createdAt, before), limit),
    count: db => countRows(db, reportTokens, reportTokens.createdAt)
  }
]
