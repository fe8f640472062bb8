import { z } from 'zod'
import { addressRoutes, RuleEffect } from './addresses.ts'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'
import {
  Done,
  Id,
  IdName,
  IdParams,
  Money,
  MoneyInput,
  PlatformStock,
  ReasonParams,
  RuleId,
  Time,
  formVersion,
  optionalText,
  text
} from './shapes.ts'
import { Translations, translationsForm } from './translations.ts'

export const AclRule = z.object({
  id: z.number(),
  name: z.string(),
  price: Money,
  shopify_variant_id: z.string(),
  description: z.string(),
  /** One domain per line. */
  acl_value: z.string(),
  /** Not sold, because its product is not in the platform's Online Store. */
  unpublished: z.boolean(),
  /** Not sold, because the platform sells its product with a selling plan only. */
  subscription_only: z.boolean(),
  platform_stock: PlatformStock,
  /** The platform's checkout asks for an address and a shipping rate. */
  shipped: z.boolean(),
  created_at: Time,
  translations: Translations,
  version: z.string()
})
export type AclRule = z.infer<typeof AclRule>

/**
 * Which buyers reach a domain of one rule that is a subdomain of another rule's. `narrow`: only buyers of the rule with
 * the subdomain. `broad`: buyers of either rule, so an address leased under one is not leased under the other to others.
 */
export const OverlapWinner = z.enum(['narrow', 'broad'])
export type OverlapWinner = z.output<typeof OverlapWinner>

/** An operator's decision on overlaps with rule `rule_id`: for one subdomain, or (without `domain`) for all. */
export const OverlapDecision = z.object({
  rule_id: RuleId,
  domain: z.string().max(253).optional(),
  winner: OverlapWinner
})
export type OverlapDecision = z.output<typeof OverlapDecision>

export const AclRuleForm = z.object({
  name: text(message('enter_name')),
  price: MoneyInput(message('enter_price')),
  shopify_variant_id: z.coerce
    .string({ error: message('enter_variant_id') })
    .trim()
    .regex(/^\d{1,20}$/, message('enter_variant_id')),
  acl_value: text(message('enter_rule'), 2_000_000),
  description: text(message('enter_description'), 2000),
  /** Of the name only, because customers do not see the description. */
  translations: translationsForm({ name: optionalText() }),
  /** Required if domains overlap with other rules. Earlier decisions remain. */
  decisions: z.array(OverlapDecision).max(10_000).optional()
})

export type AclRuleForm = z.output<typeof AclRuleForm>

/** A rule in an overlap; without an id it is not saved yet. */
const OverlapSide = z.object({ id: z.number().nullable(), name: z.string() })

/** A `domain` of the narrow rule that lies within a domain of the broad rule. */
export const RuleOverlap = z.object({
  domain: z.string(),
  within: z.string(),
  narrow: OverlapSide,
  broad: OverlapSide,
  /** Null: undecided, which has the effect of `narrow`. */
  winner: OverlapWinner.nullable(),
  /** What each choice means, as a reason with its parameters and its sentence. */
  choices: z.array(z.object({ winner: OverlapWinner, reason: z.string(), params: ReasonParams, msg: z.string() }))
})
export type RuleOverlap = z.infer<typeof RuleOverlap>

/** What rules have in common. Lists are cut at 200 entries; totals are complete. */
const RuleConflicts = z.object({
  /** Domains in several rules: older data, or repeated in the checked list. */
  duplicates: z.array(z.object({ domain: z.string(), rules: z.array(OverlapSide) })),
  duplicate_total: z.number(),
  /** Undecided ones first. */
  overlaps: z.array(RuleOverlap),
  overlap_total: z.number(),
  undecided_total: z.number(),
  /** The rules named above, with the number of orders under each. */
  rules: z.array(IdName.extend({ orders: z.number() })),
  /**
   * Pairs of rules with a common site whose orders (up to 200) hold the same address under both. In a check: pairs that
   * saving would create, for which it is refused.
   */
  shared: z.array(
    z.object({
      rules: z.array(OverlapSide),
      /** `order_id`: the public number. */
      orders: z.array(z.object({ id: z.number(), order_id: z.string() }))
    })
  )
})
export type RuleConflicts = z.infer<typeof RuleConflicts>
const RuleCheck = RuleConflicts.extend({ effect: RuleEffect })
export type RuleCheck = z.infer<typeof RuleCheck>

export const AclGroup = z.object({
  id: z.number(),
  name: z.string(),
  description: z.string(),
  acls: z.array(IdName),
  version: z.string()
})
export type AclGroup = z.infer<typeof AclGroup>

export const AclGroupForm = z.object({
  name: text(message('enter_group_name')),
  description: text(message('enter_description'), 2000),
  acls: z
    .array(RuleId, { error: message('select_acl') })
    .min(1, message('select_acl'))
    .max(500)
})

export type AclGroupForm = z.output<typeof AclGroupForm>

export const Cidr = z.object({
  id: z.number(),
  cidr: z.string(),
  ip_count: z.number(),
  exclude_acl: z.array(IdName),
  delivery_count: z.number(),
  server_ids: z.array(z.number()),
  servers: z.array(IdName),
  created_at: Time,
  version: z.string()
})
export type Cidr = z.infer<typeof Cidr>

const RemovedCidrs = z.object({
  deleted_count: z.number(),
  cidr_details: z.array(z.object({ id: z.number(), cidr: z.string() }))
})

/** Only a range's excluded rules can be edited. */
export const CidrForm = z.object({ exclude_acl: z.array(RuleId).max(500) })

const countFilter = z.union([z.string().regex(/^\d{1,9}$/), z.int().min(0)]).transform(Number)

const flagFilter = z
  .enum(['true', 'false', '1', '0'])
  .optional()
  .transform(value => value === 'true' || value === '1')

const RuleParams = z.object({ id: RuleId })

/** A rule's list of domains may have two million characters. */
const RULE_BYTES = 4 * 1024 * 1024
const SERVERS = '/api/servers'

export const inventory = {
  ...addressRoutes,
  rules: route('GET', `${SERVERS}/acls/`, {
    summary: 'Access rules',
    access: 'admin',
    permission: 'rules.view',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(AclRule)
  }),
  ruleConflicts: route('GET', `${SERVERS}/acls/conflicts/`, {
    summary: 'Domains that access rules share, and the decisions about them',
    access: 'admin',
    permission: 'rules.view',
    reply: RuleConflicts
  }),
  platformVariant: route('GET', `${SERVERS}/acls/platform_variant/`, {
    summary: 'Platform price of a variant for a rule; refused if the variant is already in use',
    access: 'admin',
    permission: 'rules.view',
    query: z.object({
      shopify_variant_id: AclRuleForm.shape.shopify_variant_id,
      /** The edited rule. */
      id: RuleId.optional()
    }),
    /** Null: no platform is configured, and the form's price applies. */
    reply: z.object({ price: Money.nullable() })
  }),
  checkRule: route('POST', `${SERVERS}/acls/check/`, {
    summary: "Preview saving a rule's domains: conflicts, overlaps and affected orders; nothing changes",
    access: 'admin',
    permission: 'rules.view',
    bodyLimit: RULE_BYTES,
    body: AclRuleForm.pick({ acl_value: true, decisions: true }).extend({
      /** The edited rule. */
      id: RuleId.optional(),
      /** The name that sentences use for a new rule. */
      name: z.string().trim().min(1).max(255).optional()
    }),
    reply: RuleCheck
  }),
  createRule: route('POST', `${SERVERS}/acls/`, {
    summary: 'Add an access rule',
    access: 'admin',
    permission: 'rules.change',
    bodyLimit: RULE_BYTES,
    body: AclRuleForm,
    reply: AclRule
  }),
  updateRule: route('PUT', `${SERVERS}/acls/:id/`, {
    summary: 'Edit an access rule; all affected agents get the change',
    access: 'admin',
    permission: 'rules.change',
    params: RuleParams,
    bodyLimit: RULE_BYTES,
    body: AclRuleForm.extend(formVersion),
    reply: AclRule
  }),
  deleteRule: route('DELETE', `${SERVERS}/acls/:id/`, {
    summary: 'Delete an access rule without live leases',
    access: 'admin',
    permission: 'rules.change',
    params: RuleParams,
    reply: Done
  }),
  groups: route('GET', `${SERVERS}/acl-groups/`, {
    summary: 'Access rule groups',
    access: 'admin',
    permission: 'rules.view',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(AclGroup)
  }),
  createGroup: route('POST', `${SERVERS}/acl-groups/`, {
    summary: 'Add a group',
    access: 'admin',
    permission: 'rules.change',
    body: AclGroupForm,
    reply: AclGroup
  }),
  updateGroup: route('PUT', `${SERVERS}/acl-groups/:id/`, {
    summary: 'Edit a group',
    access: 'admin',
    permission: 'rules.change',
    params: IdParams,
    body: AclGroupForm.extend(formVersion),
    reply: AclGroup
  }),
  deleteGroup: route('DELETE', `${SERVERS}/acl-groups/:id/`, {
    summary: 'Delete a group',
    access: 'admin',
    permission: 'rules.change',
    params: IdParams,
    reply: Done
  }),
  cidrs: route('GET', `${SERVERS}/cidrs/`, {
    summary: 'Address ranges',
    access: 'admin',
    permission: 'rules.view',
    query: listQuery({
      sort: ['id', 'cidr', 'delivery_count'],
      order: 'asc',
      filters: {
        delivery_count_exact: countFilter.optional(),
        delivery_count_min: countFilter.optional(),
        exclude_acl: RuleId.optional(),
        /** Ranges that are sold with this rule. */
        sold_with: RuleId.optional(),
        /** Ranges of this server group's servers. */
        group_id: Id.optional(),
        unreferenced: flagFilter,
        server_id: Id.optional()
      }
    }),
    reply: page(Cidr)
  }),
  updateCidr: route('PUT', `${SERVERS}/cidrs/:id/`, {
    summary: 'Set the rules that this range is never sold with',
    access: 'admin',
    permission: 'rules.change',
    params: IdParams,
    body: CidrForm.extend(formVersion),
    reply: Cidr
  }),
  unusedCidrs: route('GET', `${SERVERS}/cidrs/unused/`, {
    summary: 'Preview removing unused ranges; nothing changes',
    access: 'admin',
    permission: 'rules.view',
    query: z.object({ include_soft_deleted: flagFilter }),
    reply: z.object({
      count: z.number(),
      /** The first 200. */
      cidrs: z.array(z.object({ id: z.number(), cidr: z.string() })),
      /** Identifies the plan. The clean-up removes exactly these ranges or is refused. */
      plan: z.string()
    })
  }),
  cleanUnusedCidrs: route('POST', `${SERVERS}/cidrs/clean_unused/`, {
    summary: 'Remove ranges that have no server and no lease',
    access: 'admin',
    permission: 'rules.change',
    body: z
      .object({ include_soft_deleted: z.boolean().default(false), plan: z.string().max(64).optional() })
      .optional(),
    reply: RemovedCidrs.extend({ results: RemovedCidrs })
  })
}
