/**
 * Mail: templates, layout, and the job that sends. It owns no table: a mail waits in the job queue.
 * Others send by `enqueueMail` within their command, and know nothing of the mail service.
 */
export { mailJobs } from './jobs.ts'
export { enqueueMail, sendMailQueue } from './send-mail.ts'
export { type WhyNotDelivered } from './templates/payments.ts'
