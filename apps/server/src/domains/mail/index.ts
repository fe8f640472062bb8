import type { JobQueue } from '../../infra/jobs.ts'
import { sendMailQueue } from './send-mail.ts'

export { enqueueMail, mailJobs, sendMailQueue, type MailOrder } from './send-mail.ts'
export { type Template, type Templates } from './templates.ts'

export const mailQueues: JobQueue<object>[] = [sendMailQueue]
