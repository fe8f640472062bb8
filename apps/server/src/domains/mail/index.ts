export { enqueueMail, mailJobs, notifyAdmins, sendMailQueue, type MailOrder } from './send-mail.ts'
export { type Template, type Templates } from './templates.ts'
