/** Calls of the inventory about single addresses: their holders, and how a range is used. */
import { z } from 'zod'
import { message } from './form-messages.ts'
import { listQuery, page } from './list.ts'
import { LeaseProof } from './proofs.ts'
import { route } from './route.ts'
import { IdName, IdParams, Instant, RuleId, Time } from './shapes.ts'

/** Addresses that one order held under its rules for a period: an entry of the lease history. */
export const AddressLease = z.object({
  id: z.number(),
  /** An address, or an aligned range leased as one ('192.0.2.8/29'). */
  address: z.string(),
  order_id: z.number(),
  /** The order's public number. */
  order: z.string(),
  user_id: z.number(),
  username: z.string(),
  acls: z.array(IdName),
  leased_at: Time,
  /** When it was paid; null: only reserved. */
  active_from: Time.nullable(),
  /** Null: still held. */
  released_at: Time.nullable(),
  /**
   * When its proxies last stopped (for a query at an instant: the stop nearest to it), at release or at the order's
   * end, after which the grace period only holds the address. Null: still working.
   */
  stopped_at: Time.nullable(),
  /** The order's current term. */
  delivered_at: Time.nullable(),
  expired_at: Time.nullable(),
  /** Whether its credentials were seen to be refused after they ended; null: never tried. */
  proof: LeaseProof.nullable()
})
export type AddressLease = z.infer<typeof AddressLease>

/** Numbers of addresses in a block. `held`: reserved and not paid. */
const Usage = z.object({
  leased: z.number(),
  held: z.number(),
  /** In quarantine after release. */
  resting: z.number(),
  /** Free, but leased under another rule with a common site, so it cannot be sold under this one. */
  blocked: z.number(),
  free: z.number()
})

/** How a range, or part of it, is used: up to 256 blocks, and figures by rule. */
export const Occupancy = z.object({
  cidr: z.string(),
  server: IdName.nullable(),
  /** The range or the part of it that is shown. */
  part: z.string(),
  /** Addresses (IPv6: /64s) of the part, and of each block. */
  units: z.number(),
  block_units: z.number(),
  /** The rule shown; null: leased under any rule counts as leased. */
  rule: IdName.nullable(),
  blocks: z.array(Usage.extend({ part: z.string() })),
  /** `excluded`: the range is never sold with this rule. Existing leases continue. */
  rules: z.array(Usage.extend({ id: z.number(), name: z.string(), excluded: z.boolean() }))
})
export type Occupancy = z.infer<typeof Occupancy>

/** What a change of excluded rules would do. Nothing is saved. */
export const RangeEffect = z.object({
  /** It belongs to a server; otherwise none of it is for sale. */
  sells: z.boolean(),
  /** `free` addresses leave this rule's stock; `leased` ones continue until their orders end. */
  excluded: z.array(IdName.extend({ free: z.number(), leased: z.number(), orders: z.number() })),
  /** `free` addresses join this rule's stock. */
  allowed: z.array(IdName.extend({ free: z.number() })),
  /** Orders with addresses of the range under any excluded rule. */
  orders: z.number()
})
export type RangeEffect = z.infer<typeof RangeEffect>

/** What saving or deleting a rule would do. Nothing is saved. */
export const RuleEffect = z.object({
  /** Orders with addresses under the rule, including expired ones in grace, and how many of them are unpaid. */
  orders: z.number(),
  unpaid: z.number(),
  /** The addresses of those orders. */
  addresses: z.number(),
  /** Addresses for sale under the rule, or under a new rule. */
  free: z.number(),
  /** Numbers of domains added and removed. */
  added: z.number(),
  removed: z.number(),
  /** Orders without the rule. They lose access to added domains and gain access to removed ones. */
  others: z.number(),
  /** Agents that get new deny lists. */
  agents: z.number(),
  /** Rule groups that contain it. */
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
    summary: 'Who had an address at a given time, and before and after; recorded in the audit log',
    access: 'admin',
    permission: 'addresses.view',
    query: z.object({
      address,
      /** Default: now. */
      at: Instant().optional()
    }),
    reply: z.object({
      address: z.string(),
      at: Time,
      /** The range that contains the address today, and its server. */
      range: z.object({ id: z.number(), cidr: z.string() }).nullable(),
      server: IdName.nullable(),
      /** Several if it was leased under several rules. */
      held: z.array(AddressLease),
      before: AddressLease.nullable(),
      after: AddressLease.nullable(),
      /** A reply to a complaint, by language. It names no customer. */
      texts: z.object({ en: z.string(), 'zh-CN': z.string() })
    })
  }),
  addressLeases: route('GET', `${S}/addresses/leases/`, {
    summary: 'Who had addresses of a range in a period; recorded in the audit log',
    access: 'admin',
    permission: 'addresses.view',
    query: listQuery({ sort: ['id'], filters: { address, from: Instant().optional(), to: Instant().optional() } }),
    reply: page(AddressLease)
  }),
  cidrBlocks: route('GET', `${S}/cidrs/:id/blocks/`, {
    summary: 'Occupancy of a range, by block and by rule',
    access: 'admin',
    permission: 'rules.view',
    params: IdParams,
    query: z.object({
      rule: RuleId.optional(),
      /** A part of the range, as named in a block. */
      part: z.string().trim().max(64).optional()
    }),
    reply: Occupancy
  }),
  cidrEffect: route('POST', `${S}/cidrs/:id/effect/`, {
    summary: 'Preview excluding rules from a range; nothing changes',
    access: 'admin',
    permission: 'rules.view',
    params: IdParams,
    body: z.object({ exclude_acl: z.array(RuleId).max(500) }),
    reply: RangeEffect
  }),
  ruleEffect: route('GET', `${S}/acls/:id/effect/`, {
    summary: 'Preview deleting a rule; nothing changes',
    access: 'admin',
    permission: 'rules.view',
    params: z.object({ id: RuleId }),
    reply: RuleEffect
  })
}
