import { job, type Job } from '../../infra/job.ts'
import { sendMail, sendMailQueue } from './send-mail.ts'

export const mailJobs: Job[] = [
  job(sendMailQueue, {
    purpose: 'Sends a mail; while the mail service fails, it is tried for about a day.',
    concurrency: 2,
    run: (ctx, order, jobId) => sendMail(ctx, order, jobId)
  })
]
