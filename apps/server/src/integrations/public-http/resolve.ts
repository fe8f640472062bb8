import { isIP } from 'node:net'
import { answered, resolverOf } from '../name-servers.ts'

/** All addresses of a host; empty if it has none or DNS fails. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>

/**
 * Queries DNS servers for the IPv4 and IPv6 addresses of a name.
 * @param servers as in `DNS_SERVERS`; empty for those of the machine
 * @returns null if DNS fails
 */
export async function resolvePublicHost(
  host: string,
  signal: AbortSignal,
  servers: readonly string[] = []
): Promise<string[] | null> {
  if (isIP(host) !== 0) return [host]
  const resolver = resolverOf(servers, 2000)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const [v4, v6] = await Promise.all([answered(resolver.resolve4(host)), answered(resolver.resolve6(host))])
    const found = [...(v4 ?? []), ...(v6 ?? [])]
    return found.length === 0 && (v4 === null || v6 === null) ? null : found
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

export const resolvePublicly: Resolve = async (host, signal) => (await resolvePublicHost(host, signal)) ?? []
