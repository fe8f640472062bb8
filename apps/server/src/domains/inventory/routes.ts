import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { createAclGroup, deleteAclGroup, updateAclGroup, aclGroupList } from './acl-groups.ts'
import { checkRule, ruleConflicts } from './rule-conflicts.ts'
import { addAclRule, editAclRule, type OnRulesChanged, removeAclRule, ruleList } from './manage-rules.ts'

/**
 * Puts the calls for access rules and their groups on the server; those for ranges are the fleet's, which knows servers.
 * @param onRulesChanged lets the agents learn what the rules deny from now on
 */
export function inventoryRoutes(
  mount: Mount,
  ctx: AppContext,
  { onRulesChanged }: { onRulesChanged: OnRulesChanged }
): void {
  const { inventory } = routes
  mountList(mount, ctx, inventory.rules, () => ruleList)
  mount(inventory.ruleConflicts, () => ruleConflicts(ctx))
  mount(inventory.checkRule, call => checkRule(ctx, call.body))
  mount(inventory.createRule, call => addAclRule(ctx, call.caller, call.body, onRulesChanged))
  mount(inventory.updateRule, call => editAclRule(ctx, call.caller, call.params.id, call.body, onRulesChanged))
  mount(inventory.deleteRule, call => removeAclRule(ctx, call.caller, call.params.id, onRulesChanged))

  mountList(mount, ctx, inventory.groups, () => aclGroupList)
  mount(inventory.createGroup, call => createAclGroup(ctx, call.caller, call.body))
  mount(inventory.updateGroup, call => updateAclGroup(ctx, call.caller, call.params.id, call.body))
  mount(inventory.deleteGroup, call => deleteAclGroup(ctx, call.caller, call.params.id))
}
