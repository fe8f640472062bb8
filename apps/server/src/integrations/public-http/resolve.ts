import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

/** All addresses of a host; none where it has none, or nobody says. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>

/**
 * Asks DNS servers for the IPv4 and IPv6 addresses of a name. Not by the system's own resolver: that reads the machine's host
 * file, whose names are not public, and each look-up of it holds a thread that password hashes need as well, for as long
 * as somebody's name server is silent.
 */
export const resolvePublicly: Resolve = async (host, signal) => {
  if (isIP(host) !== 0) return [host]
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    return found.flatMap(part => (part.status === 'fulfilled' ? part.value : []))
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
