import ipaddr from 'ipaddr.js'

/**
 * Reads a geofeed (RFC 8805): a line is `prefix,country,region,city,postal code`, of which all but the prefix may be
 * empty; `#` begins a comment.
 * @returns what is wrong with the first wrong line; undefined where all are right
 */
export function findGeofeedError(text: string): string | undefined {
  const seen = new Map<string, number>()
  for (const [at, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const line = raw.replace(/#.*$/, '').trim()
    if (line === '') continue
    const problem = findLineError(line, at + 1, seen)
    if (problem) return `Line ${at + 1}: ${problem}`
  }
  return undefined
}

function findLineError(line: string, number: number, seen: Map<string, number>): string | undefined {
  const [prefix = '', country = '', region = '', ...others] = line.split(',').map(part => part.trim())
  if (others.length > 2) return 'has more than five fields'
  const network = readPrefix(prefix)
  if (!network) return `'${prefix.slice(0, 60)}' is not an address range`
  const before = seen.get(network)
  if (before !== undefined) return `${prefix} stands in line ${before} already`
  seen.set(network, number)
  if (!/^([A-Z]{2})?$/i.test(country)) return `'${country.slice(0, 20)}' is not a country code of two letters`
  if (!/^([A-Z]{2}-[A-Z0-9]{1,3})?$/i.test(region)) return `'${region.slice(0, 20)}' is not a region such as US-NY`
  if (region !== '' && region.slice(0, 2).toUpperCase() !== country.toUpperCase())
    return `the region ${region} is not in the country ${country || 'that is not given'}`
  return undefined
}

/** The canonical form of a prefix or a single address; undefined where it is neither or has bits beyond its length. */
function readPrefix(text: string): string | undefined {
  if (!/^[0-9a-f.:]+(\/\d{1,3})?$/i.test(text)) return undefined
  if (!text.includes(':') && !/^\d+\.\d+\.\d+\.\d+(\/|$)/.test(text)) return undefined
  try {
    const [address, bits] = text.includes('/') ? ipaddr.parseCIDR(text) : withFullLength(ipaddr.parse(text))
    const network =
      address.kind() === 'ipv4'
        ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`)
        : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`)
    return network.toString() === address.toString() ? `${address.toString()}/${bits}` : undefined
  } catch {
    return undefined
  }
}

function withFullLength(address: ipaddr.IPv4 | ipaddr.IPv6): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
