/** Who had an address, and how a range is used: what of the inventory's calls is about single addresses. */
import { z } from 'zod'
import { message } from './form-messages.ts'
import { listQuery, page } from './list.ts'
import { LeaseProof } from './proofs.ts'
import { route } from './route.ts'
import { IdName, IdParams, Instant, RuleId, Time } from './shapes.ts'

/** Addresses that one order held under its rules for a time: one entry of the lease history. */
export const AddressLease = z.object({
  id: z.number(),
  /** The address, or the aligned range that was leased as one ('192.0.2.8/29'). */
  address: z.string(),
  order_id: z.number(),
  /** The order's public id. */
  order: z.string(),
  user_id: z.number(),
  username: z.string(),
  acls: z.array(IdName),
  leased_at: Time,
  /** Since when it is paid for; null: it was reserved only. */
  active_from: Time.nullable(),
  /** Null: still held. */
  released_at: Time.nullable(),
  /**
   * When its proxies stopped, the last time or, at an instant, the time before or next after it: with its release, or with
   * the end of its order, after which a grace only holds it. Null: they have not stopped.
   */
  stopped_at: Time.nullable(),
  /** The term of the order as it stands now. */
  delivered_at: Time.nullable(),
  expired_at: Time.nullable(),
  /** Whether its credentials were seen refused after they ended; null: nothing was tried. */
  proof: LeaseProof.nullable()
})
export type AddressLease = z.infer<typeof AddressLease>

/** Of a block of addresses: how many are leased, held (reserved, not paid yet), resting, and free. */
const Usage = z.object({
  leased: z.number(),
  held: z.number(),
  /** In quarantine after their release. */
  resting: z.number(),
  /** Free, but leased under a rule with a site in common, so that they cannot be sold under this one. */
  blocked: z.number(),
  free: z.number()
})

/** How a range, or a part of it, is used: a picture of at most 256 blocks, and figures by rule. */
export const Occupancy = z.object({
  cidr: z.string(),
  server: IdName.nullable(),
  /** What the picture shows: the range, or a part of it. */
  part: z.string(),
  /** Addresses (IPv6: /64s) of the part, and of each block. */
  units: z.number(),
  block_units: z.number(),
  /** The rule that the picture is of; null: an address counts as leased where it is leased under any rule. */
  rule: IdName.nullable(),
  blocks: z.array(Usage.extend({ part: z.string() })),
  /** `excluded`: the range is never sold with this rule; what was leased before runs on. */
  rules: z.array(Usage.extend({ id: z.number(), name: z.string(), excluded: z.boolean() }))
})
export type Occupancy = z.infer<typeof Occupancy>

/** What excluding rules from a range, or allowing them again, would do. Nothing is saved. */
export const RangeEffect = z.object({
  /** It belongs to a server; otherwise it is out of stock anyhow. */
  sells: z.boolean(),
  /** `free` addresses leave the stock of this rule; `leased` ones run on until their orders end. */
  excluded: z.array(IdName.extend({ free: z.number(), leased: z.number(), orders: z.number() })),
  /** `free` addresses come into the stock of this rule. */
  allowed: z.array(IdName.extend({ free: z.number() })),
  /** Orders that hold addresses of the range under any rule that is excluded. */
  orders: z.number()
})
export type RangeEffect = z.infer<typeof RangeEffect>

/** What saving or deleting a rule would do. Nothing is saved. */
export const RuleEffect = z.object({
  /** Orders that hold addresses under the rule, expired ones in their grace among them, and how many are not paid yet. */
  orders: z.number(),
  unpaid: z.number(),
  /** Addresses that those hold. */
  addresses: z.number(),
  /** Addresses that are for sale under the rule, or would be under a new one. */
  free: z.number(),
  /** Domains that come and go. */
  added: z.number(),
  removed: z.number(),
  /** Orders that hold addresses without the rule: they lose the domains that come, and reach those that go. */
  others: z.number(),
  /** Agents that get new deny lists. */
  agents: z.number(),
  /** Rule groups that have it. */
  groups: z.array(IdName)
})
export type RuleEffect = z.infer<typeof RuleEffect>

const address = z
  .string({ error: message('must_be_ip') })
  .trim()
  .min(1, message('must_be_ip'))
  .max(64, message('must_be_ip'))

const S = '/api/servers'

/** A part of the inventory's calls. */
export const addressRoutes = {
  addressHolders: route('GET', `${S}/addresses/`, {
    summary: 'Who had an address at an instant, and before and after; the look is written into the audit log',
    access: 'admin',
    permission: 'addresses.view',
    query: z.object({
      address,
      /** Without it now. */
      at: Instant().optional()
    }),
    reply: z.object({
      address: z.string(),
      at: Time,
      /** The range that has the address today, and its server. */
      range: z.object({ id: z.number(), cidr: z.string() }).nullable(),
      server: IdName.nullable(),
      /** Several where it was leased under several rules. */
      held: z.array(AddressLease),
      before: AddressLease.nullable(),
      after: AddressLease.nullable(),
      /** A ready answer to whoever complains, by language. It names no customer. */
      texts: z.object({ en: z.string(), 'zh-CN': z.string() })
    })
  }),
  addressLeases: route('GET', `${S}/addresses/leases/`, {
    summary: 'Who had addresses of a range in a span of time; the look is written into the audit log',
    access: 'admin',
    permission: 'addresses.view',
    query: listQuery({ sort: ['id'], filters: { address, from: Instant().optional(), to: Instant().optional() } }),
    reply: page(AddressLease)
  }),
  cidrBlocks: route('GET', `${S}/cidrs/:id/blocks/`, {
    summary: 'How a range is used, block by block and by rule',
    access: 'admin',
    permission: 'rules.view',
    params: IdParams,
    query: z.object({
      rule: RuleId.optional(),
      /** A part of the range, as a block of the picture names it. */
      part: z.string().trim().max(64).optional()
    }),
    reply: Occupancy
  }),
  cidrEffect: route('POST', `${S}/cidrs/:id/effect/`, {
    summary: 'What excluding these rules from a range would do. Nothing is saved.',
    access: 'admin',
    permission: 'rules.view',
    params: IdParams,
    body: z.object({ exclude_acl: z.array(RuleId).max(500) }),
    reply: RangeEffect
  }),
  ruleEffect: route('GET', `${S}/acls/:id/effect/`, {
    summary: 'What deleting a rule would do',
    access: 'admin',
    permission: 'rules.view',
    params: z.object({ id: RuleId }),
    reply: RuleEffect
  })
}
