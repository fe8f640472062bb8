import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { provisionQueue } from '../servers/index.ts'
import { provisionServer } from './provision.ts'
import { advanceUpgrade, advanceUpgrades } from './upgrades/advance-upgrade.ts'
import { upgradeQueue } from './upgrades/start-upgrade.ts'

/** Each minute: the same for every running upgrade, in case a process left one behind. */
const upgradesQueue = queue<object>('advance-upgrades', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const provisioningJobs: Job[] = [
  job(provisionQueue, {
    purpose: "Installs a server's agent over SSH, or loads its ranges.",
    concurrency: 2,
    async run(ctx, work) {
      await provisionServer(ctx, work, ctx.config.install)
      // An upgrade may wait for it. An error here must not install again: the minute job advances the upgrade.
      await advanceUpgrades(ctx).catch((error: unknown) =>
        ctx.log.error({ err: error }, 'upgrades were not taken further')
      )
    }
  }),
  job(upgradeQueue, {
    purpose: 'Starts the next servers of an upgrade after the previous ones are done.',
    run: (ctx, { upgradeId }) => advanceUpgrade(ctx, upgradeId)
  }),
  job(upgradesQueue, {
    purpose: 'Does the same for any running upgrade that a stopped process left unfinished.',
    cron: '* * * * *',
    atStart: true,
    run: advanceUpgrades
  })
]
