import { queue } from '../../platform/jobs.ts'
import type { Shop } from '../../platform/shop.ts'
import { decayLevelPoints } from './decay.ts'

// Long enough for many users; a run that is cut off goes on where it was.
const decayQueue = queue('rewards.decay-level-points', { expireInSeconds: 900 })

export const rewardsQueues = [decayQueue]

/** Works on the rewards' background jobs in this process. */
export async function rewardsJobs(shop: Shop): Promise<void> {
  await shop.jobs.work(decayQueue, async () => {
    const changed = await decayLevelPoints(shop)
    if (changed > 0) shop.log.info({ users: changed }, 'level points faded')
  })
  // Every hour, not on the day: a shop that was down on the day catches up.
  await shop.jobs.schedule(decayQueue, '7 * * * *')
}
