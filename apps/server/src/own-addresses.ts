import { and, isNull, sql } from './infra/db/drizzle.ts'
import { servers } from './domains/servers/tables.ts'
import { cidrs } from './domains/inventory/tables.ts'
import type { Executor } from './infra/db/client.ts'

/** Do some of these addresses belong to the shop's servers, or to ranges that are or were leased out? */
export async function ownsAddresses(db: Executor, addresses: readonly string[]): Promise<boolean> {
  const asked = sql`any (${sql.param([...addresses])}::inet[])`
  const [server] = await db
    .select({ id: servers.id })
    .from(servers)
    .where(and(isNull(servers.deletedAt), sql`${servers.ip} = ${asked}`))
    .limit(1)
  if (server) return true
  const [range] = await db
    .select({ id: cidrs.id })
    .from(cidrs)
    .where(and(isNull(cidrs.deletedAt), sql`${cidrs.cidr} >>= ${asked}`))
    .limit(1)
  return range !== undefined
}
