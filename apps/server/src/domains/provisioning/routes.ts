import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { agentVersion } from '../../integrations/agent/index.ts'
import { planAgentSettings, readAgentSettings, setAgentSettings } from './agent-settings.ts'
import { cancelProvisioning } from './cancel.ts'
import { listUpgradeServers, upgradeList } from './upgrades/list-upgrades.ts'
import { continueUpgrade, endUpgrade, planUpgrade, startUpgrade } from './upgrades/start-upgrade.ts'

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
