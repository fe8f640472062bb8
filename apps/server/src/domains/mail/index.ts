/**
 * Mail: templates, layout, the job that sends, the log of what was sent, and who wants which mails. It owns mails and
 * mail_choices. Others send by `enqueueMail` within their command, and know nothing of the mail service.
 */
export { forgetAddress, moveChoices, readChoices, saveChoices } from './choices.ts'
export { mailJobs } from './jobs.ts'
export { exportMails } from './own-mails.ts'
export { mailTroubles } from './send-again.ts'
export { mailRetention } from './retention.ts'
export { mailRoutes, unsubscribeRoutes } from './routes.ts'
export { DELETED_HOST, enqueueMail, sendMailQueue } from './send-mail.ts'
export { type RefundEffect, type WhyNotDelivered } from './templates/payments.ts'
