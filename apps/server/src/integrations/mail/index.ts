export { readMailgunEvents, readSendgridEvents, type MailEvent, type ReadEvents } from './events.ts'
export { type Mail, type MailResult, parseFrom } from './mail.ts'
export { createMailer, type MailerOptions } from './mailer.ts'
export { checkSenderDomain } from './sender-domain.ts'
