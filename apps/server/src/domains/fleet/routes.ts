import { refuse, routes } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { clientAddress } from '../../infra/http/client-address.ts'
import type { Caller, Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
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
export function fleetRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet } = routes
  mount(fleet.servers, async ({ query }) => ok(await listServers(ctx.db, query)))
  mount(fleet.createServer, call => createServer(ctx, actorOf(call), call.body))
  mount(fleet.updateServer, call => updateServer(ctx, actorOf(call), call.params.id, call.body))
  mount(fleet.deleteServer, call => deleteServer(ctx, actorOf(call), call.params.id))

  mount(fleet.groups, async ({ query }) => ok(await listGroups(ctx.db, query)))
  mount(fleet.createGroup, call => createGroup(ctx, actorOf(call), call.body))
  mount(fleet.updateGroup, call => updateGroup(ctx, actorOf(call), call.params.id, call.body))
  mount(fleet.deleteGroup, call => deleteGroup(ctx, actorOf(call), call.params.id))

  mount(fleet.createUserByPrefix, async call => {
    // Scripts send the server's id in the body as well: another one than the path's is a mistake worth telling.
    if (call.body.id !== undefined && call.body.id !== call.params.id) return refuse('bad_request')
    return createUserByPrefix(ctx, actorOf(call), call.params.id, call.body)
  })
  mount(fleet.deleteUser, call => deleteProxyUser(ctx, actorOf(call), call.params.id, call.body.username))
  mount(fleet.deleteAllUser, call => deleteAllUsers(ctx, actorOf(call), call.params.id))
  mount(fleet.resetAllProxy, call => resetAllProxy(ctx, actorOf(call), call.params.id, call.body.cidrs))
  mount(fleet.flushAccessLog, call => flushAccessLog(ctx, actorOf(call), call.params.id))
  mount(fleet.listAcl, call => listAcl(ctx, call.params.id))
  mount(fleet.serverInfo, call => serverInfo(ctx, call.params.id))
  mount(fleet.requestApi, call => requestApi(ctx, actorOf(call), call.params.id, call.body))
  mount(fleet.applyRemovals, call => applyRemovals(ctx, actorOf(call), call.params.id))
}
