import { and, asc, eq, inArray, isNull, or, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { chunks, cidrs, leaseBlocks, leases, ruleUsage } from './tables.ts'

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

export type UnusedCidr = {
  id: number
  cidr: string
  deliveryCount: number
}

/** Ranges without a server, and those of the removed servers `ofServers`. Orders still lease from those in `kept`. */
export async function unusedCidrs(
  db: Executor,
  { ofServers = [] }: { ofServers?: number[] } = {}
): Promise<{ unused: UnusedCidr[]; kept: UnusedCidr[] }> {
  const leased = sql<boolean>`exists (
    select 1 from chunks c join lease_blocks b on b.chunk_id = c.id
    where c.cidr_id = cidrs.id and b.released_at is null
      and exists (select 1 from rule_usage u where u.chunk_id = c.id and bit_count(u.bits) > 0))`
  const rows = await db
    .select({ id: cidrs.id, cidr: cidrs.cidr, deliveryCount: cidrs.deliveryCount, leased })
    .from(cidrs)
    .where(and(isNull(cidrs.deletedAt), or(isNull(cidrs.serverId), inArray(cidrs.serverId, ofServers))))
    .orderBy(asc(cidrs.id))
  const those = (isLeased: boolean) =>
    rows.filter(row => row.leased === isLeased).map(({ id, cidr, deliveryCount }) => ({ id, cidr, deliveryCount }))
  return { unused: those(false), kept: those(true) }
}

/** Whether a range lies inside one of the server's own. */
export async function serverOwns(db: Executor, serverId: number, range: string): Promise<boolean> {
  const owning = await db.$count(
    cidrs,
    and(eq(cidrs.serverId, serverId), isNull(cidrs.deletedAt), sql`${cidrs.cidr} >>= ${range}::inet`)
  )
  return owning > 0
}

/** How many addresses of each server are in use or at rest under any rule. It reads the usage, not the leases. */
export async function leasedOnServers(db: Executor, serverIds: number[]): Promise<ReadonlyMap<number, number>> {
  const used = db
    .select({ serverId: chunks.serverId, units: sql<number>`bit_count(bit_or(${ruleUsage.bits}))`.as('units') })
    .from(chunks)
    .innerJoin(ruleUsage, eq(ruleUsage.chunkId, chunks.id))
    .where(inArray(chunks.serverId, serverIds))
    .groupBy(chunks.id)
    .as('used')
  const rows = await db
    .select({ serverId: used.serverId, addresses: sql<number>`sum(${used.units})::int` })
    .from(used)
    .groupBy(used.serverId)
  return new Map(rows.flatMap(({ serverId, addresses }) => (serverId === null ? [] : [[serverId, addresses]])))
}
