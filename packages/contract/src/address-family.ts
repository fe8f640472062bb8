import { z } from 'zod'

/** What one address of a plan is: an IPv4 address, or an IPv6 /64, whose `::1` clients connect to. */
export const ADDRESS_FAMILIES = ['ipv4', 'ipv6'] as const
export const AddressFamily = z.enum(ADDRESS_FAMILIES)
export type AddressFamily = z.infer<typeof AddressFamily>

/** Of an order. `any`: placed before plans had a family, and got both; it goes on getting either. */
export const OrderFamily = z.enum([...ADDRESS_FAMILIES, 'any'])
export type OrderFamily = z.infer<typeof OrderFamily>

/**
 * What the connections through a leased IPv6 /64 leave from. `fixed`: the address that the client is connected to. `request`: each
 * from another random one of that /64. `session`: for the user name `USER-session-NAME` from an address that is NAME's, else as
 * `fixed`. Of IPv4 addresses it is always `fixed`.
 */
export const EGRESS_MODES = ['fixed', 'request', 'session'] as const
export const EgressMode = z.enum(EGRESS_MODES)
export type EgressMode = z.infer<typeof EgressMode>
