/**
 * The inventory: address ranges cut into chunks, access rules, and which order leases which addresses under which rules.
 * Others lease by `reserve`, `activate` and `release`, and change ranges and rules by the functions below, within their own
 * command; nobody else writes these tables, and the database itself refuses a double lease.
 * It knows no server and no order but their ids (docs/INVENTORY.md says how it works).
 */
export { groupRules } from './acl-groups.ts'
export { type InventoryAudit, audit } from './audit.ts'
export {
  type CidrLine,
  type CidrRefusal,
  type CleanedCidr,
  addCidr,
  assignCidrs,
  cleanUnused,
  excludeRules,
  removeCidr
} from './cidr-commands.ts'
export { ordersOnServer, serverCidrs, serverOwns } from './cidr-queries.ts'
export { type DomainLine, type ParsedDomains, parseDomains } from './domains.ts'
export { type Holding, type LeasedAddress, type LeaseShare, addressesOf, leasesOf, whoHeld } from './holdings.ts'
export { type Reservation, type Reserved, activate, lockInventory, release, reserve, reserveOther } from './leasing.ts'
export { type ParsedCidr, addressCount, parseCidr } from './ranges.ts'
export { inventoryJobs } from './jobs.ts'
export { leasedBy } from './refusals.ts'
export { ruleNames, rulesById } from './rule-lookup.ts'
export { addAclRule, type OnRulesChanged } from './manage-rules.ts'
export { inventoryRoutes } from './routes.ts'
export {
  type Rule,
  type RuleInput,
  type RuleOverlap,
  type RuleRefusal,
  createRule,
  deleteRule,
  deniedDomains,
  liveRules,
  updateRule
} from './rules.ts'
export { type RuleStock, type Step, maxStep, quoteRules, quoteSelection, steps } from './stock.ts'
