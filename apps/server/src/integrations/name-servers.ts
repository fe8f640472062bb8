import { Resolver } from 'node:dns/promises'

/**
 * Asks DNS servers, not the system's own resolver: that reads the machine's host file, whose names are not public, and each look-up
 * of it holds a thread that password hashes need as well, for as long as somebody's name server is silent.
 * @param servers as `DNS_SERVERS` names them; none: those of the machine
 */
export function resolverOf(servers: readonly string[], timeoutMs: number): Resolver {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  if (servers.length > 0) resolver.setServers([...servers])
  return resolver
}

/** What was answered; nothing where there is none of it, null where nobody says. */
export async function answered<T>(question: Promise<T[]>): Promise<T[] | null> {
  try {
    return await question
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
  }
}
