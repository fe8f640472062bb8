/** Whether the proxies that were sold reach the internet. */
import { job, type Job } from '../../../infra/job.ts'
import { queue } from '../../../infra/jobs.ts'
import { checkShare, SLOTS } from './check-proxies.ts'

export { proxyChecksOf } from './check-proxies.ts'
export { hasClientList, checkProxies, checkShare, countChecked } from './check-proxies.ts'

const SLOT_MINUTES = 10

const checkShareQueue = queue<object>('check-proxies', {
  retryLimit: 0,
  expireInSeconds: SLOT_MINUTES * 60,
  deleteAfterSeconds: 3600
})

export const checkJobs: Job[] = [
  job(checkShareQueue, {
    purpose: 'Checks the next share of all live proxies, each once a day.',
    cron: `*/${SLOT_MINUTES} * * * *`,
    async run(ctx) {
      const minute = Math.floor(ctx.now().getTime() / 60_000)
      const slot = Math.floor(minute / SLOT_MINUTES) % SLOTS
      // A minute less than the slot, so that one share never runs beside the next.
      const checked = await checkShare(ctx, slot, performance.now() + (SLOT_MINUTES - 1) * 60_000)
      ctx.log.info({ slot, checked }, 'proxies checked')
    }
  })
]
