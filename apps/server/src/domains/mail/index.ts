/**
 * Mail: templates, layout, the job that sends, the log, and who wants which mails. It owns mails, mail_choices,
 * mail_blocks and mail_report_tokens. Other domains only call `enqueueMail` within their command.
 */
export { blockedAmong, blockOf } from './blocked-addresses.ts'
export { moveChoices, readChoices, saveChoices } from './choices.ts'
export { type Recipient, exportMails, forgetAddress, forgetWaitingMails } from './recipient.ts'
export { mailJobs } from './jobs.ts'
export { mailOutcomes, mailStates } from './record.ts'
export { canBeSentAgain, keysOfCopies } from './send-again.ts'
export { mailTroubles, refusedMail, unsentMails, waitingMails } from './unsent.ts'
export { mailRetention } from './retention.ts'
export { mailRoutes, unsubscribeRoutes } from './routes.ts'
export { DELETED_HOST, enqueueMail, mailIsSetUp, sendMailQueue } from './send-mail.ts'
export { sendTestMail } from './sender-check.ts'
export { type RefundEffect, type WhyNotDelivered } from './templates/payments.ts'
