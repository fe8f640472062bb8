import { refuse, routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { rangeEffect } from '../inventory/index.ts'
import { acknowledgeAlarm, listAlarms } from './alarms.ts'
import { cidrBlocks, cidrList, cleanUnusedCidrs, editCidr, planCleaning } from './cidrs.ts'
import { deleteServer } from './delete-server.ts'
import { createGroup, deleteGroup, planGroup, updateGroup, type VariantsSellingFrom, groupList } from './groups.ts'
import { findServer, serverList, serverNameList } from './list-servers.ts'
import { proposeGeofeed, savePlaces } from './geofeed/propose.ts'
import { endConnections, followLog, liveConnections } from './live.ts'
import { applyRemovals, flushAccessLog, listAcl, requestApi, resetAllProxy, serverInfo } from './manage-agent.ts'
import { createUserByPrefix, deleteAllUsers, deleteProxyUser } from './manage-users.ts'
import { ok } from '../../infra/result.ts'
import { approvePlan, findRepairPlan, takeOver } from './ownership/decide.ts'
import { acknowledgeProof, listProofs } from './proofs/alarm.ts'
import { checkProxyTls } from './proxy-tls/check.ts'
import { readProxyTls, setProxyTls } from './proxy-tls/set.ts'
import { acceptHostKey, createServer, planEdit, provision, updateServer } from './save-server.ts'

import { addOutage, outageList } from './outages.ts'
import { pauseServer, resumeServer, takeBackServer } from './server-status.ts'
import { checkIpv6 } from './manage.ts'
import { signatureOf } from './proofs/dial.ts'

export type FleetPorts = { variantsSellingFrom: VariantsSellingFrom }

/** The fleet's routes, and those of address ranges, because their lists name servers. */
export function fleetRoutes(mount: Mount, ctx: AppContext, { variantsSellingFrom }: FleetPorts): void {
  const { fleet, inventory } = routes
  mountList(mount, ctx, fleet.servers, () => serverList)
  mountList(mount, ctx, fleet.serverNames, () => serverNameList)
  mount(fleet.server, call => findServer(ctx.db, call.params.id))
  mount(fleet.createServer, call => createServer(ctx, call.caller, call.body))
  mount(fleet.updateServer, call => updateServer(ctx, call.caller, call.params.id, call.body))
  mount(fleet.planEdit, call => planEdit(ctx, call.caller, call.params.id, call.body))
  mount(fleet.provision, call => provision(ctx, call.caller, call.params.id, call.body))
  mount(fleet.acceptHostKey, call => acceptHostKey(ctx, call.caller, call.params.id, call.body.fingerprint))
  mount(fleet.deleteServer, call => deleteServer(ctx, call.caller, call.params.id))

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

  mount(fleet.proxyTls, call => readProxyTls(ctx.db, call.params.id, ctx.now()))
  mount(fleet.setProxyTls, call => setProxyTls(ctx, call.caller, call.params.id, call.body))
  mount(fleet.checkProxyTls, call => checkProxyTls(ctx, call.params.id))
  mount(fleet.proofs, async call => ok(await listProofs(ctx.db, call.query)))
  mount(fleet.acknowledgeProof, call => acknowledgeProof(ctx, call.caller, call.params.id))
  mount(fleet.seenFrom, async ({ caller, query: { mark }, reply }) => {
    void reply.header('cache-control', 'no-store')
    return ok({ address: caller.ip, signature: signatureOf(ctx.config.appSecret, { mark, address: caller.ip }) })
  })

  mount(fleet.pause, call => pauseServer(ctx, call.caller, call.params.id, call.body))
  mount(fleet.resume, call => resumeServer(ctx, call.caller, call.params.id, call.body))
  mount(fleet.takeBack, call => takeBackServer(ctx, call.caller, call.params.id))
  mountList(mount, ctx, fleet.outages, ({ params }) => outageList(params.id))
  mount(fleet.addOutage, call => addOutage(ctx, call.caller, call.params.id, call.body))

  mountList(mount, ctx, fleet.groups, () => groupList)
  mount(fleet.createGroup, call => createGroup(ctx, call.caller, call.body))
  mount(fleet.updateGroup, call => updateGroup(ctx, call.caller, call.params.id, call.body))
  mount(fleet.planGroup, call => planGroup(ctx, call.params.id, call.body, variantsSellingFrom))
  mount(fleet.deleteGroup, call => deleteGroup(ctx, call.caller, call.params.id, variantsSellingFrom))

  mountList(mount, ctx, inventory.cidrs, () => cidrList)
  mount(inventory.updateCidr, call => editCidr(ctx, call.caller, call.params.id, call.body))
  mount(inventory.cidrBlocks, call => cidrBlocks(ctx, call.params.id, call.query))
  mount(inventory.cidrEffect, call => rangeEffect(ctx, call.params.id, call.body.exclude_acl))
  mount(inventory.unusedCidrs, call => planCleaning(ctx.db, { ofRemovedServers: call.query.include_soft_deleted }))
  mount(inventory.cleanUnusedCidrs, call =>
    cleanUnusedCidrs(ctx, call.caller, {
      ofRemovedServers: call.body?.include_soft_deleted ?? false,
      plan: call.body?.plan
    })
  )

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
  mount(fleet.geofeedProposal, async () => ok(await proposeGeofeed(ctx)))
  mount(fleet.savePlaces, call => savePlaces(ctx, call.caller, call.body.places))
  mount(fleet.repairPlan, call => findRepairPlan(ctx.db, call.params.id))
  mount(fleet.approvePlan, call => approvePlan(ctx, call.caller, call.params.id, call.body.digest))
  mount(fleet.takeOver, call => takeOver(ctx, call.caller, call.params.id, call.body.owner))
  mount(fleet.applyRemovals, call => applyRemovals(ctx, call.caller, call.params.id))
}
