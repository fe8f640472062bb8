import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { rangeEffect } from '../inventory/index.ts'
import { cidrBlocks, cidrList, cleanUnusedCidrs, editCidr, planCleaning } from './cidrs.ts'
import { acceptHostKey, createServer, deleteServer, planEdit, provision, updateServer } from './save-server.ts'
import { proposeGeofeed, savePlaces } from './geofeed/propose.ts'
import { createGroup, deleteGroup, groupList, planGroup, updateGroup, type VariantsSellingFrom } from './groups.ts'
import { findServer, serverList, serverNameList } from './list-servers.ts'
import { addOutage, outageList } from './outages.ts'
import { pauseServer, resumeServer, takeBackServer } from './server-status.ts'

export type ServerPorts = { variantsSellingFrom: VariantsSellingFrom }

/** The routes of servers and groups, and those of address ranges, because their lists name servers. */
export function serverRoutes(mount: Mount, ctx: AppContext, { variantsSellingFrom }: ServerPorts): void {
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
  mount(fleet.geofeedProposal, async () => ok(await proposeGeofeed(ctx)))
  mount(fleet.savePlaces, call => savePlaces(ctx, call.caller, call.body.places))
}
