import { refuse, routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { rangeEffect } from '../inventory/index.ts'
import { cidrBlocks, cidrList, editCidr } from './cidrs.ts'
import { cleanUnusedCidrs, planCleaning } from './clean-cidrs.ts'
import { deleteServer } from './delete-server.ts'
import { createGroup, deleteGroup, planGroup, updateGroup, type VariantsSellingFrom, groupList } from './groups.ts'
import { findServer, serverList, serverNameList } from './list-servers.ts'
import { applyRemovals, flushAccessLog, listAcl, requestApi, resetAllProxy, serverInfo } from './manage-agent.ts'
import { createUserByPrefix, deleteAllUsers, deleteProxyUser } from './manage-users.ts'
import { cancelProvisioning } from './provision/cancel.ts'
import { createServer, planEdit, provision, updateServer } from './save-server.ts'

import { addOutage, outageList } from './outages.ts'
import { pauseServer, resumeServer, takeBackServer } from './server-status.ts'

export type FleetPorts = { variantsSellingFrom: VariantsSellingFrom }

/** Puts the fleet's calls on the server, and those on address ranges: their lists name servers. */
export function fleetRoutes(mount: Mount, ctx: AppContext, { variantsSellingFrom }: FleetPorts): void {
  const { fleet, inventory } = routes
  mountList(mount, ctx, fleet.servers, () => serverList)
  mountList(mount, ctx, fleet.serverNames, () => serverNameList)
  mount(fleet.server, call => findServer(ctx.db, call.params.id))
  mount(fleet.createServer, call => createServer(ctx, call.caller, call.body))
  mount(fleet.updateServer, call => updateServer(ctx, call.caller, call.params.id, call.body))
  mount(fleet.planEdit, call => planEdit(ctx, call.caller, call.params.id, call.body))
  mount(fleet.provision, call => provision(ctx, call.caller, call.params.id, call.body))
  mount(fleet.cancelProvision, call => cancelProvisioning(ctx, call.caller, call.params.id, call.body?.started_at))
  mount(fleet.deleteServer, call => deleteServer(ctx, call.caller, call.params.id))

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
    // Scripts send the server's id in the body as well: another one than the path's is a mistake worth telling.
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
  mount(fleet.applyRemovals, call => applyRemovals(ctx, call.caller, call.params.id))
}
