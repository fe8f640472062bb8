import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { chunks, cidrs, leaseBlocks, leases } from './tables.ts'

/** The ranges of a server, ascending. */
export async function serverCidrs(db: Executor, serverId: number): Promise<string[]> {
  const rows = await db
    .select({ cidr: cidrs.cidr })
    .from(cidrs)
    .where(and(eq(cidrs.serverId, serverId), isNull(cidrs.deletedAt)))
    .orderBy(asc(cidrs.cidr))
  return rows.map(row => row.cidr)
}

/** Orders that hold addresses on a server now, by id. */
export async function ordersOnServer(db: Executor, serverId: number): Promise<number[]> {
  const rows = await db
    .selectDistinct({ orderId: leases.orderId })
    .from(chunks)
    .innerJoin(leaseBlocks, eq(leaseBlocks.chunkId, chunks.id))
    .innerJoin(leases, eq(leases.id, leaseBlocks.leaseId))
    .where(and(eq(chunks.serverId, serverId), isNull(leaseBlocks.releasedAt)))
    .orderBy(asc(leases.orderId))
  return rows.map(row => row.orderId)
}

/** Whether a range lies inside one of the server's own. */
export async function serverOwns(db: Executor, serverId: number, range: string): Promise<boolean> {
  const owning = await db.$count(
    cidrs,
    and(eq(cidrs.serverId, serverId), isNull(cidrs.deletedAt), sql`${cidrs.cidr} >>= ${range}::inet`)
  )
  return owning > 0
}
