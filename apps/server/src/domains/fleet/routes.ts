import { refuse, routes } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { clientAddress } from '../../platform/http/client-address.ts'
import type { Caller, Mount } from '../../platform/http/mount.ts'
import { ok } from '../../platform/result.ts'
import type { Shop } from '../../platform/shop.ts'
import { deleteServer } from './delete-server.ts'
import { createGroup, deleteGroup, listGroups, updateGroup } from './groups.ts'
import { listServers } from './list-servers.ts'
import { applyRemovals, flushAccessLog, listAcl, requestApi, resetAllProxy, serverInfo } from './manage-agent.ts'
import { createUserByPrefix, deleteAllUsers, deleteProxyUser } from './manage-users.ts'
import { createServer, updateServer, type Actor } from './save-server.ts'

const actorOf = ({ caller, request }: { caller: Caller; request: FastifyRequest }): Actor => ({
  caller,
  ip: clientAddress(request)
})

/** Puts the fleet's calls on the server. */
export function fleetRoutes(mount: Mount, shop: Shop): void {
  const { fleet } = routes
  mount(fleet.servers, async ({ query }) => ok(await listServers(shop.db, query)))
  mount(fleet.createServer, call => createServer(shop, actorOf(call), call.body))
  mount(fleet.updateServer, call => updateServer(shop, actorOf(call), call.params.id, call.body))
  mount(fleet.deleteServer, call => deleteServer(shop, actorOf(call), call.params.id))

  mount(fleet.groups, async ({ query }) => ok(await listGroups(shop.db, query)))
  mount(fleet.createGroup, call => createGroup(shop, actorOf(call), call.body))
  mount(fleet.updateGroup, call => updateGroup(shop, actorOf(call), call.params.id, call.body))
  mount(fleet.deleteGroup, call => deleteGroup(shop, actorOf(call), call.params.id))

  mount(fleet.createUserByPrefix, async call => {
    // Scripts send the server's id in the body as well: another one than the path's is a mistake worth telling.
    if (call.body.id !== undefined && call.body.id !== call.params.id) return refuse('bad_request')
    return createUserByPrefix(shop, actorOf(call), call.params.id, call.body)
  })
  mount(fleet.deleteUser, call => deleteProxyUser(shop, actorOf(call), call.params.id, call.body.username))
  mount(fleet.deleteAllUser, call => deleteAllUsers(shop, actorOf(call), call.params.id))
  mount(fleet.resetAllProxy, call => resetAllProxy(shop, actorOf(call), call.params.id, call.body.cidrs))
  mount(fleet.flushAccessLog, call => flushAccessLog(shop, actorOf(call), call.params.id))
  mount(fleet.listAcl, call => listAcl(shop, call.params.id))
  mount(fleet.serverInfo, call => serverInfo(shop, call.params.id))
  mount(fleet.requestApi, call => requestApi(shop, actorOf(call), call.params.id, call.body))
  mount(fleet.applyRemovals, call => applyRemovals(shop, actorOf(call), call.params.id))
}
