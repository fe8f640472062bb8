import { refuse, type Params, type Refusal } from '@netlet/contract'

/** Orders named in a sentence; the others are only counted. */
const NAMED = 10

/**
 * Refuses because orders still hold addresses: of a range (`cidr`), of a server, or under a rule.
 * @param orderIds at least one
 */
export function leasedBy(what: 'cidr' | 'server' | 'rule', orderIds: number[], params: Params = {}): Refusal {
  const orders = orderIds
    .slice(0, NAMED)
    .map(id => `#${id}`)
    .join(', ')
  const more = orderIds.length - NAMED
  const data = { ...params, orders: orderIds }
  if (more > 0) return refuse(`${what}_has_more_leases`, { params: { ...params, orders, more }, data })
  if (orderIds.length > 1 || what === 'rule')
    return refuse(`${what}_has_leases`, { params: { ...params, orders }, data })
  return refuse(`${what}_has_lease`, { params: { ...params, orders }, data })
}
