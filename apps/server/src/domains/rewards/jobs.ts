import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { decayLevelPoints } from './decay.ts'
import { followCodesOf } from './follow-holder.ts'
import { followLevels } from './grant.ts'
import { holderCodesQueue } from './queues.ts'

// Long enough for many users; an interrupted run resumes.
const decayQueue = queue('decay-level-points', { expireInSeconds: 900 })

export const rewardsJobs: Job[] = [
  job(holderCodesQueue, {
    purpose: "Updates the discounts of a customer's unused promo codes after a change of email address.",
    importance: 'background',
    run: followCodesOf
  }),
  job(decayQueue, {
    purpose: "Reduces every user's level points once a month, on the day set in Web Settings.",
    // Every hour, so that a shop that was down on the day catches up.
    cron: '7 * * * *',
    async run(ctx) {
      const changed = await decayLevelPoints(ctx)
      if (changed === 0) return
      ctx.log.info({ users: changed }, 'level points decayed')
      await command(ctx, SYSTEM, async unit => followLevels(unit))
    }
  })
]
