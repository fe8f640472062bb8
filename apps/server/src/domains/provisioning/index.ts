import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { agentVersion } from '../../integrations/agent/index.ts'
import { planAgentSettings, readAgentSettings, setAgentSettings } from './agent-settings.ts'
import { cancelProvisioning } from './cancel.ts'
import { listUpgradeServers, upgradeList } from './upgrades/list-upgrades.ts'
import { continueUpgrade, endUpgrade, planUpgrade, startUpgrade, upgradeQueue } from './upgrades/start-upgrade.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { provisionQueue } from '../servers/index.ts'
import { provisionServer } from './provision.ts'
import { advanceUpgrade, advanceUpgrades } from './upgrades/advance-upgrade.ts'

export { countStoppedUpgrades, upgradeFinder, upgradeRetention } from './upgrades/list-upgrades.ts'

export function provisioningRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet } = routes
  mount(fleet.agentVersion, async () => ok({ version: await agentVersion() }))
  mount(fleet.cancelProvision, call => cancelProvisioning(ctx, call.caller, call.params.id, call.body?.started_at))
  mountList(mount, ctx, fleet.upgrades, () => upgradeList)
  mount(fleet.upgradeServers, call => listUpgradeServers(ctx.db, call.params.id))
  mount(fleet.planUpgrade, call => planUpgrade(ctx, call.body.selection))
  mount(fleet.startUpgrade, call => startUpgrade(ctx, call.caller, call.body))
  mount(fleet.continueUpgrade, call => continueUpgrade(ctx, call.caller, call.params.id))
  mount(fleet.endUpgrade, call => endUpgrade(ctx, call.caller, call.params.id))
  mount(fleet.agentSettings, call => readAgentSettings(ctx.db, call.params.id))
  mount(fleet.planAgentSettings, call => planAgentSettings(ctx, call.params.id, call.body))
  mount(fleet.setAgentSettings, call => setAgentSettings(ctx, call.caller, call.params.id, call.body))
}

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
