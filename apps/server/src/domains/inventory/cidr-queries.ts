import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Executor } from '../../platform/db/client.ts'
import { cidrs } from './tables.ts'

/** The ranges of a server, ascending. */
export async function serverCidrs(db: Executor, serverId: number): Promise<string[]> {
  const rows = await db
    .select({ cidr: cidrs.cidr })
    .from(cidrs)
    .where(and(eq(cidrs.serverId, serverId), isNull(cidrs.deletedAt)))
    .orderBy(asc(cidrs.cidr))
  return rows.map(row => row.cidr)
}
