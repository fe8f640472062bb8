import { queue } from '../../infra/jobs.ts'
import type { AppContext } from '../../infra/context.ts'
import { decayLevelPoints } from './decay.ts'

// Long enough for many users; a run that is cut off goes on where it was.
const decayQueue = queue('rewards.decay-level-points', { expireInSeconds: 900 })

export const rewardsQueues = [decayQueue]

/** Works on the rewards' background jobs in this process. */
export async function rewardsJobs(ctx: AppContext): Promise<void> {
  await ctx.jobs.work(decayQueue, async () => {
    const changed = await decayLevelPoints(ctx)
    if (changed > 0) ctx.log.info({ users: changed }, 'level points faded')
  })
  // Every hour, not on the day: a shop that was down on the day catches up.
  await ctx.jobs.schedule(decayQueue, '7 * * * *')
}
