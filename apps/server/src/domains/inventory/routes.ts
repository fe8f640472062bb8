import { routes } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { clientAddress } from '../../platform/http/client-address.ts'
import type { Caller, Mount } from '../../platform/http/mount.ts'
import { ok } from '../../platform/result.ts'
import type { Shop } from '../../platform/shop.ts'
import { createAclGroup, deleteAclGroup, listAclGroups, updateAclGroup } from './acl-groups.ts'
import { cleanUnusedCidrs, editCidr, listCidrs } from './manage-cidrs.ts'
import { addAclRule, editAclRule, listRules, type OnRulesChanged, removeAclRule } from './manage-rules.ts'

const actorOf = ({ caller, request }: { caller: Caller; request: FastifyRequest }) => ({
  caller,
  ip: clientAddress(request)
})

/**
 * Puts the inventory's calls on the server.
 * @param onRulesChanged lets the agents learn what the rules deny from now on
 */
export function inventoryRoutes(mount: Mount, shop: Pick<Shop, 'db'>, onRulesChanged: OnRulesChanged): void {
  const { inventory } = routes
  mount(inventory.rules, async ({ query }) => ok(await listRules(shop.db, query)))
  mount(inventory.createRule, call => addAclRule(shop, actorOf(call), call.body, onRulesChanged))
  mount(inventory.updateRule, call => editAclRule(shop, actorOf(call), call.params.id, call.body, onRulesChanged))
  mount(inventory.deleteRule, call => removeAclRule(shop, actorOf(call), call.params.id, onRulesChanged))

  mount(inventory.groups, async ({ query }) => ok(await listAclGroups(shop.db, query)))
  mount(inventory.createGroup, call => createAclGroup(shop, actorOf(call), call.body))
  mount(inventory.updateGroup, call => updateAclGroup(shop, actorOf(call), call.params.id, call.body))
  mount(inventory.deleteGroup, call => deleteAclGroup(shop, actorOf(call), call.params.id))

  mount(inventory.cidrs, async ({ query }) => ok(await listCidrs(shop.db, query)))
  mount(inventory.updateCidr, call => editCidr(shop, actorOf(call), call.params.id, call.body.exclude_acl))
  mount(inventory.cleanUnusedCidrs, call =>
    cleanUnusedCidrs(shop, actorOf(call), call.body?.include_soft_deleted ?? false)
  )
}
