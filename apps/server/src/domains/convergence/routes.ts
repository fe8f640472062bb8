import { refuse, routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { acknowledgeAlarm, listAlarms } from './abuse-alarms.ts'
import {
  applyRemovals,
  endConnections,
  flushAccessLog,
  followLog,
  listAcl,
  liveConnections,
  requestApi,
  resetAllProxy,
  serverInfo
} from './manage-agent.ts'
import { createUserByPrefix, deleteAllUsers, deleteProxyUser } from './manage-users.ts'
import { checkIpv6 } from './manage.ts'
import { approvePlan, findRepairPlan, takeOver } from './ownership/decide.ts'

export function convergenceRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet } = routes
  mount(fleet.live, call => liveConnections(ctx, call.params.id, call.query.user))
  mount(fleet.endConnections, call => endConnections(ctx, call.caller, call.params.id, call.body))
  mount(fleet.followLog, ({ params, query: { after_line: after, http_status: status, ...query } }) =>
    followLog(ctx, params.id, { ...query, after, status })
  )
  mount(fleet.checkIpv6, call =>
    checkIpv6(ctx, call.params.id, call.body?.target ?? '', Object.values(ctx.config.checkSites))
  )
  mount(fleet.alarms, async call => ok(await listAlarms(ctx.db, call.query)))
  mount(fleet.acknowledgeAlarm, call => acknowledgeAlarm(ctx, call.caller, call.params.id))
  mount(fleet.createUserByPrefix, async call => {
    // Scripts also send the server's id in the body. If it differs from the path's, that is a mistake.
    if (call.body.id !== undefined && call.body.id !== call.params.id) return refuse('bad_request')
    return createUserByPrefix(ctx, call.caller, call.params.id, call.body)
  })
  mount(fleet.deleteUser, call => deleteProxyUser(ctx, call.caller, call.params.id, call.body.username))
  mount(fleet.deleteAllUser, call => deleteAllUsers(ctx, call.caller, call.params.id))
  mount(fleet.resetAllProxy, call => resetAllProxy(ctx, call.caller, call.params.id, call.body.cidrs))
  mount(fleet.flushAccessLog, call => flushAccessLog(ctx, call.caller, call.params.id))
  mount(fleet.listAcl, call => listAcl(ctx, call.params.id))
  mount(fleet.serverInfo, call => serverInfo(ctx, call.caller, call.params.id))
  mount(fleet.requestApi, call => requestApi(ctx, call.caller, call.params.id, call.body))
  mount(fleet.repairPlan, call => findRepairPlan(ctx.db, call.params.id))
  mount(fleet.approvePlan, call => approvePlan(ctx, call.caller, call.params.id, call.body.digest))
  mount(fleet.takeOver, call => takeOver(ctx, call.caller, call.params.id, call.body.owner))
  mount(fleet.applyRemovals, call => applyRemovals(ctx, call.caller, call.params.id))
}
