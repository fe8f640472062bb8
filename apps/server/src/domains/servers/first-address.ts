import ipaddr from 'ipaddr.js'
import { serverCidrs } from '../inventory/index.ts'
import type { SyncContext } from './agent-client.ts'
import type { ServerRow } from './server-row.ts'

/**
 * The lowest address of the server's first range that its agent took, of IPv4 if it has one. Of an IPv6 range, the
 * address that customers of its first /64 connect to. Null if it has no range.
 */
export async function firstAddressOf({ db }: Pick<SyncContext, 'db'>, server: ServerRow): Promise<ProxyAddress | null> {
  const ranges = (await serverCidrs(db, server.id)).filter(cidr => !server.refusedRanges.includes(cidr))
  const range = ranges.find(cidr => !cidr.includes(':')) ?? ranges[0]
  if (range === undefined) return null
  return { host: range.includes(':') ? firstOf(range) : (range.split('/')[0] ?? ''), port: server.proxyPort }
}

/** Where a proxy is asked: an address that the console knows, whatever the agent reports. */
export type ProxyAddress = { host: string; port: number }

/** The address of a range that its customers connect to; of IPv6, the `::1`. */
export function firstOf(prefix: string): string {
  const [address, bits] = ipaddr.parseCIDR(prefix)
  const bytes = address.toByteArray()
  if (bits < 128) bytes[15] = (bytes[15] ?? 0) | 1
  return ipaddr.fromByteArray(bytes).toString()
}
