import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { createAclGroup, deleteAclGroup, updateAclGroup, aclGroupList } from './acl-groups.ts'
import { removeAclRule, ruleList } from './manage-rules.ts'
import { ruleRemoval } from './rules-on-sale.ts'
import { addPricedRule, editPricedRule, readPlatformPrice, type RulePorts } from './save-rules.ts'
import { checkRule, ruleConflicts } from './rule-conflicts.ts'

/**
 * The routes of access rules and their groups. Those of ranges belong to the domain `servers`, whose names they show.
 * @param ports `onRulesChanged` lets the agents learn what the rules now deny; `prices` is the platform; `orderNumbers`
 * names orders
 */
export function inventoryRoutes(mount: Mount, ctx: AppContext, ports: RulePorts): void {
  const { inventory } = routes
  mountList(mount, ctx, inventory.rules, () => ruleList)
  mount(inventory.ruleConflicts, () => ruleConflicts(ctx, ports.orderNumbers))
  mount(inventory.checkRule, call => checkRule(ctx, call.body, ports.orderNumbers))
  mount(inventory.ruleEffect, call => ruleRemoval(ctx, call.params.id))
  mount(inventory.platformVariant, call => readPlatformPrice(ctx, call.query, ports))
  mount(inventory.createRule, call => addPricedRule(ctx, call.caller, call.body, ports))
  mount(inventory.updateRule, call => editPricedRule(ctx, call.caller, call.params.id, call.body, ports))
  mount(inventory.deleteRule, call => removeAclRule(ctx, call.caller, call.params.id, ports.onRulesChanged))

  mountList(mount, ctx, inventory.groups, () => aclGroupList)
  mount(inventory.createGroup, call => createAclGroup(ctx, call.caller, call.body))
  mount(inventory.updateGroup, call => updateAclGroup(ctx, call.caller, call.params.id, call.body))
  mount(inventory.deleteGroup, call => deleteAclGroup(ctx, call.caller, call.params.id))
}
