import { job, type Job } from '../../infra/job.ts'
import { codeQueue, endCodeQueue, levelTagQueue, levelTagsQueue } from '../rewards/index.ts'
import { checkCodes, checkCodesQueue } from './check-codes.ts'
import { checkCodeOnPlatform, endCode } from './check-code.ts'
import { compareCustomers, tagCustomer } from './level-tags.ts'

export const promotionsJobs: Job[] = [
  job(codeQueue, {
    purpose: 'Checks a promo code, gift card or level code on the platform, and creates or updates its discount.',
    concurrency: 2,
    importance: 'background',
    run: checkCodeOnPlatform
  }),
  job(endCodeQueue, {
    purpose: "Ends the platform's discount for a code that was deleted, renamed or marked as used.",
    importance: 'background',
    run: endCode
  }),
  job(checkCodesQueue, {
    purpose: "Compares all unused codes with the platform's discounts.",
    cron: '47 3 * * *',
    importance: 'background',
    run: (ctx, from) => checkCodes(ctx, from)
  }),
  job(levelTagQueue, {
    purpose: "Tags the platform's customer with the user's level.",
    importance: 'background',
    run: tagCustomer
  }),
  job(levelTagsQueue, {
    purpose: "Finds platform customers whose tags do not match their user's level, and corrects them.",
    cron: '17 5 * * *',
    importance: 'background',
    run: (ctx, from) => compareCustomers(ctx, from)
  })
]
