import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { decayLevelPoints } from './decay.ts'

// Long enough for many users; a run that is cut off goes on where it was.
const decayQueue = queue('decay-level-points', { expireInSeconds: 900 })

export const rewardsJobs: Job[] = [
  job(decayQueue, {
    purpose: "Lowers everyone's level points once a month, from the day that the settings name.",
    // Every hour, not on the day: a shop that was down on the day catches up.
    cron: '7 * * * *',
    async run(ctx) {
      const changed = await decayLevelPoints(ctx)
      if (changed > 0) ctx.log.info({ users: changed }, 'level points decayed')
    }
  })
]
