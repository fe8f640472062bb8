/** Do the proxies that were sold reach the world? */
import { queue } from '../../../infra/jobs.ts'
import type { AppContext } from '../../../infra/context.ts'
import { checkShare, SLOTS } from './check-proxies.ts'

export { checkProxies, checkShare } from './check-proxies.ts'

const SLOT_MINUTES = 10

/** Every ten minutes: the next share of all live proxies. */
export const checkShareQueue = queue<object>('check-proxies', {
  retryLimit: 0,
  expireInSeconds: SLOT_MINUTES * 60,
  deleteAfterSeconds: 3600
})

export const checkQueues = [checkShareQueue]

/** Checks all live proxies once a day in this process, a share at a time. */
export async function checkJobs(ctx: AppContext): Promise<void> {
  await ctx.jobs.work(checkShareQueue, async () => {
    const minute = Math.floor(ctx.now().getTime() / 60_000)
    const slot = Math.floor(minute / SLOT_MINUTES) % SLOTS
    // A minute less than the slot, so that one share never runs beside the next.
    const checked = await checkShare(ctx, slot, Date.now() + (SLOT_MINUTES - 1) * 60_000)
    ctx.log.info({ slot, checked }, 'proxies checked')
  })
  await ctx.jobs.schedule(checkShareQueue, `*/${SLOT_MINUTES} * * * *`)
}
