import ipaddr from 'ipaddr.js'
import { networkInterfaces } from 'node:os'

/** Looks public, but in Azure every machine reaches services of its host there. */
const METADATA = new Set(['168.63.129.16'])
/** The IPv6 range of global unicast (IANA). Everything else is local, translated or reserved. */
const GLOBAL_V6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * Is this the address of a machine on the internet? Excludes this machine, its networks, cloud metadata, documentation
 * and test ranges, and addresses that stand for others (IPv4-mapped, NAT64, 6to4, Teredo).
 * @param text as a resolver returns it; an invalid address is not public
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast' || METADATA.has(address.toString())) return false
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_V6)
}

/** Is this an address of this machine, public or not? */
export const isThisMachine = (text: string): boolean =>
  Object.values(networkInterfaces()).some(list =>
    list?.some(({ address }) => normal(address) !== null && normal(address) === normal(text))
  )

const normal = (text: string): string | null =>
  ipaddr.isValid(text) ? ipaddr.parse(text.replace(/%.*$/, '')).toNormalizedString() : null
