/**
 * The inventory: address ranges cut into chunks, access rules, and which order leases which addresses under which
 * rules. It owns cidrs, chunks, acl_rules, rule_overlaps, rule_intersections, acl_groups, acl_group_rules, rule_usage,
 * leases, lease_blocks and platform_deletions.
 * Other domains lease with `reserve`, `activate` and `release`, and change ranges and rules with the functions below,
 * within their own command. Only the inventory writes these tables, and the database itself refuses a double lease.
 * It knows servers and orders by id only (docs/INVENTORY.md says how it works).
 */
export { historyEntries, historyIn, parseAddress, rangeOf } from './address-history.ts'
export { groupRules, leasedBy } from './acl-groups.ts'
export { audit } from './jobs.ts'
export { type CidrRefusal, addCidr, assignCidrs, cleanUnused, excludeRules, removeCidr } from './cidr-commands.ts'
export { leasedOnServers, ordersOnServer, serverCidrs, serverOwns, unusedCidrs } from './cidr-commands.ts'

export { rangeEffect } from './rules-on-sale.ts'
export {
  type HeldLease,
  type LeaseOnServer,
  addressesOf,
  heldLeases,
  holdsAddresses,
  leasesOf,
  quarantineEnd,
  addressHolders
} from './read-leases.ts'
export {
  activate,
  forgetLeases,
  lockInventory,
  markKept,
  markReplaced,
  release,
  reserve,
  reserveOther,
  reservePart,
  reserveThese,
  reserveNotHeldSince,
  splitLease,
  splitByRanges
} from './leasing.ts'
export {
  addressesToLease,
  maxStep,
  occupancyOf,
  pictureOf,
  stockByRule,
  stockForRules,
  stockOfRangesByRule
} from './stock.ts'
export { addressCount, parseCidr, wholeUnits } from './ranges.ts'
export { inventoryJobs } from './jobs.ts'
export { ruleNames, rulePrices, rulesById, ruleTexts, sellableRules } from './rules-on-sale.ts'
export { addAclRule } from './manage-rules.ts'
export {
  type PlatformPrice,
  type RulePrices,
  syncRules,
  isDeletedOnPlatform,
  nameRuleProducts,
  recordDeletion,
  ruleVariantsOf,
  rulesOnPlatform,
  setRulePrice
} from './save-rules.ts'
export { createRule, deleteRule, liveRules, lockVariants, rulesSoldAs, updateRule } from './rules.ts'
export { inventoryRoutes } from './routes.ts'
export { deniedDomains } from './overlaps.ts'
export type { DenyLists } from './deny-lists.ts'
export { familyOf } from './ranges.ts'
