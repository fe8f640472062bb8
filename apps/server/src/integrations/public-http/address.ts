import ipaddr from 'ipaddr.js'
import { networkInterfaces } from 'node:os'

/** Public by its prefix, but every machine of that cloud reaches its own host's services there (Azure). */
const METADATA = new Set(['168.63.129.16'])
/** What IANA has given out as global unicast: all else of IPv6 is local, translated or reserved. */
const GLOBAL_V6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * Is this the address of a machine on the internet? Not those of this machine and its networks, of cloud metadata, of
 * documentation and tests, and none that stands for another address (IPv4-mapped, NAT64, 6to4, Teredo).
 * @param text as a resolver gives it; whatever is no address is not public
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast' || METADATA.has(address.toString())) return false
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_V6)
}

/** Is this an address of this machine itself, public or not? */
export const isThisMachine = (text: string): boolean =>
  Object.values(networkInterfaces()).some(list =>
    list?.some(({ address }) => normal(address) !== null && normal(address) === normal(text))
  )

const normal = (text: string): string | null =>
  ipaddr.isValid(text) ? ipaddr.parse(text.replace(/%.*$/, '')).toNormalizedString() : null
