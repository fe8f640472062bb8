import { job, type Job } from '../../infra/job.ts'
import { sendMail, sendMailQueue } from './send-mail.ts'

export const mailJobs: Job[] = [
  job(sendMailQueue, {
    purpose:
      'Sends a mail: codes first, then what is about one person’s matter, what many get at once, and reminders; while the mail service fails, it is tried for about a day.',
    concurrency: 4,
    importance: 'background',
    // Codes must leave even if many reminders wait and the mail service is slow.
    reserved: 2,
    run: (ctx, request, jobId) => sendMail(ctx, request, jobId)
  })
]
