import { Resolver } from 'node:dns/promises'

/**
 * Queries DNS servers directly, because the system's resolver also reads the hosts file, whose names are not public.
 * Its lookups would also block threads that password hashes need while a name server is silent.
 * @param servers as in `DNS_SERVERS`; empty for those of the machine
 */
export function resolverOf(servers: readonly string[], timeoutMs: number): Resolver {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  if (servers.length > 0) resolver.setServers([...servers])
  return resolver
}

/** The answer; empty if there are no records, null if the query failed. */
export async function answered<T>(question: Promise<T[]>): Promise<T[] | null> {
  try {
    return await question
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
  }
}
