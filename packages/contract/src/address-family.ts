import { z } from 'zod'

/** What one address of a plan is: an IPv4 address, or an IPv6 /64 whose `::1` clients connect to. */
export const ADDRESS_FAMILIES = ['ipv4', 'ipv6'] as const
export const AddressFamily = z.enum(ADDRESS_FAMILIES)
export type AddressFamily = z.infer<typeof AddressFamily>

/** The family of an order. `any`: placed before plans had a family; it gets addresses of either. */
export const OrderFamily = z.enum([...ADDRESS_FAMILIES, 'any'])
export type OrderFamily = z.infer<typeof OrderFamily>

/**
 * The source address of connections through a leased IPv6 /64. `fixed`: the address the client connects to. `request`:
 * a random address of the /64 for each. `session`: for user `USER-session-NAME` an address that belongs to NAME, else
 * like `fixed`. IPv4 is always `fixed`.
 */
export const EGRESS_MODES = ['fixed', 'request', 'session'] as const
export const EgressMode = z.enum(EGRESS_MODES)
export type EgressMode = z.infer<typeof EgressMode>
