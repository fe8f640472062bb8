import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { aclGroupList, createAclGroup, deleteAclGroup, updateAclGroup } from './acl-groups.ts'
import { cidrList, cleanUnusedCidrs, editCidr } from './manage-cidrs.ts'
import { addAclRule, editAclRule, type OnRulesChanged, removeAclRule, ruleList } from './manage-rules.ts'

/**
 * Puts the inventory's calls on the server.
 * @param onRulesChanged lets the agents learn what the rules deny from now on
 */
export function inventoryRoutes(
  mount: Mount,
  ctx: Pick<AppContext, 'db' | 'now'>,
  onRulesChanged: OnRulesChanged
): void {
  const { inventory } = routes
  mountList(mount, ctx, inventory.rules, () => ruleList)
  mount(inventory.createRule, call => addAclRule(ctx, call.caller, call.body, onRulesChanged))
  mount(inventory.updateRule, call => editAclRule(ctx, call.caller, call.params.id, call.body, onRulesChanged))
  mount(inventory.deleteRule, call => removeAclRule(ctx, call.caller, call.params.id, onRulesChanged))

  mountList(mount, ctx, inventory.groups, () => aclGroupList)
  mount(inventory.createGroup, call => createAclGroup(ctx, call.caller, call.body))
  mount(inventory.updateGroup, call => updateAclGroup(ctx, call.caller, call.params.id, call.body))
  mount(inventory.deleteGroup, call => deleteAclGroup(ctx, call.caller, call.params.id))

  mountList(mount, ctx, inventory.cidrs, () => cidrList)
  mount(inventory.updateCidr, call => editCidr(ctx, call.caller, call.params.id, call.body.exclude_acl))
  mount(inventory.cleanUnusedCidrs, call =>
    cleanUnusedCidrs(ctx, call.caller, call.body?.include_soft_deleted ?? false)
  )
}
