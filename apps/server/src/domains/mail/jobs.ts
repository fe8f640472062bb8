import { job, type Job } from '../../infra/job.ts'
import { sendMail, sendMailQueue } from './send-mail.ts'

export const mailJobs: Job[] = [
  job(sendMailQueue, {
    purpose:
      'Sends an email: codes first, then emails about one person’s matter, mass emails, and reminders. If the email service fails, it retries for about 24 hours.',
    concurrency: 4,
    importance: 'background',
    // Codes must leave even if many reminders wait and the mail service is slow.
    reserved: 2,
    run: (ctx, request, jobId) => sendMail(ctx, request, jobId)
  })
]
