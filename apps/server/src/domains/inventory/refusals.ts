import { refuse, type Params, type Refusal } from '@netlet/contract'

/** Orders named in a sentence; the others are only counted. */
const NAMED = 10

/** The first of `count` names: 'a, b, …'. */
const listed = (names: string[], count: number): string => names.join(', ') + (count > names.length ? ', …' : '')

/**
 * Refuses because orders still hold addresses: of a range (`cidr`), of a server, or under a rule.
 * @param orderIds at least one
 */
export function leasedBy(what: 'cidr' | 'server' | 'rule', orderIds: number[], params: Params = {}): Refusal {
  const orders = listed(
    orderIds.slice(0, NAMED).map(id => `#${id}`),
    orderIds.length
  )
  const data = { ...params, orders: orderIds }
  return refuse(`${what}_leased`, { params: { ...params, count: orderIds.length, orders }, data })
}
