import { foreignText } from '@netlet/contract/foreign'
import { Resolver } from 'node:dns/promises'

// Texts of other services. What is longer is cut, so that no service fills the database, a mail or a screen.

/** An id, a name, a state, a code or a time. */
export const Name = foreignText(255)
/** A sentence about what went wrong. */
export const Message = foreignText(1000)
export const Address = foreignText(2048)
/** What somebody wrote about an order. */
export const Note = foreignText(5000)
/** A list in one text. */
export const Words = foreignText(100_000)
/** A description in HTML. */
export const Page = foreignText(500_000)

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
