import { and, asc, desc, eq, gt, inArray, isNull, lte, ne, or, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../infra/db/client.ts'
import { prefixesOf, unitNumber } from './ranges.ts'
import { chunks, cidrs, leaseBlocks, leases } from './tables.ts'

export type LeaseOnServer = {
  leaseId: number
  state: 'reserved' | 'active'
  rules: number[]
  /** Other addresses replace these, which are being given back. */
  replaced: boolean
  /** Null: the range was taken off its server. */
  serverId: number | null
  /** Prefixes that hold exactly the leased addresses ('127.10.0.8/29'). */
  prefixes: string[]
  /** The number of those addresses. */
  addresses: number
}

const unitAddress = sql<string>`host(inventory.unit_at(${chunks.base}, ${leaseBlocks.start}))`

/** What an order holds now, one entry for each lease and server, oldest lease first. */
export async function leasesOf(db: Executor, orderId: number): Promise<LeaseOnServer[]> {
  const rows = await db
    .select({
      leaseId: leases.id,
      state: leases.state,
      rules: leases.rules,
      replaced: leases.replaced,
      serverId: cidrs.serverId,
      address: unitAddress,
      units: leaseBlocks.length
    })
    .from(leases)
    .innerJoin(leaseBlocks, eq(leaseBlocks.leaseId, leases.id))
    .innerJoin(chunks, eq(chunks.id, leaseBlocks.chunkId))
    .innerJoin(cidrs, eq(cidrs.id, chunks.cidrId))
    .where(and(eq(leases.orderId, orderId), ne(leases.state, 'released'), isNull(leaseBlocks.releasedAt)))
    .orderBy(asc(leases.id), asc(cidrs.serverId), asc(leaseBlocks.id))
  return [...Map.groupBy(rows, row => `${row.leaseId} ${row.serverId}`).values()].flatMap(blocks => {
    const first = blocks[0]
    if (!first || first.state === 'released') return []
    return {
      leaseId: first.leaseId,
      state: first.state,
      rules: first.rules,
      replaced: first.replaced,
      serverId: first.serverId,
      prefixes: prefixesOf(blocks),
      addresses: blocks.reduce((sum, block) => sum + block.units, 0)
    }
  })
}

/**
 * Whether an order holds addresses, including reserved ones, as a condition of a query. `offset 0` makes PostgreSQL use
 * the index for each order; otherwise it may hash all leases for a thousand orders.
 */
export const holdsAddresses = (orderId: PgColumn): SQL<boolean> => sql<boolean>`exists (
  select 1 from ${leases} join ${leaseBlocks} on ${leaseBlocks.leaseId} = ${leases.id}
  where ${leases.orderId} = ${orderId} and ${leases.state} <> 'released' and ${leaseBlocks.releasedAt} is null
  offset 0)`

export type HeldLease = {
  leaseId: number
  replaced: boolean
  /** Servers that its addresses are on. */
  serverIds: number[]
  addresses: number
}

/** What an order holds now, by lease. Like `leasesOf`, but cheap for orders with many blocks. */
export async function heldLeases(db: Executor, orderId: number): Promise<HeldLease[]> {
  return db
    .select({
      leaseId: leases.id,
      replaced: leases.replaced,
      serverIds: sql<
        number[]
      >`coalesce(array_agg(distinct ${chunks.serverId}::int) filter (where ${chunks.serverId} is not null), '{}')`,
      addresses: sql<number>`sum(${leaseBlocks.length})::int`
    })
    .from(leases)
    .innerJoin(leaseBlocks, eq(leaseBlocks.leaseId, leases.id))
    .innerJoin(chunks, eq(chunks.id, leaseBlocks.chunkId))
    .where(and(eq(leases.orderId, orderId), ne(leases.state, 'released'), isNull(leaseBlocks.releasedAt)))
    .groupBy(leases.id)
    .orderBy(asc(leases.id))
}

/**
 * The time at which no more than `most` of the order's returned addresses are still in quarantine; null if that is
 * already so.
 */
export async function quarantineEnd(
  db: Executor,
  orderId: number,
  { now, most }: { now: Date; most: number }
): Promise<Date | null> {
  // The longest rest first. Rests that end at the same instant count together.
  const resting = db
    .select({
      until: leaseBlocks.restsUntil,
      addresses: sql<number>`sum(${leaseBlocks.length}) over (order by ${leaseBlocks.restsUntil} desc)`.as('addresses')
    })
    .from(leases)
    .innerJoin(leaseBlocks, eq(leaseBlocks.leaseId, leases.id))
    .where(and(eq(leases.orderId, orderId), gt(leaseBlocks.restsUntil, now)))
    .as('resting')
  const [ends] = await db
    .select({ until: resting.until })
    .from(resting)
    .where(gt(resting.addresses, most))
    .orderBy(desc(resting.until))
    .limit(1)
  return ends?.until ?? null
}

export type LeasedAddress = {
  ip: string
  serverId: number | null
}

/**
 * Every address of a lease, even of a released one, in pages of about `pageSize` and in the order of allocation. Memory
 * use does not grow with their number.
 */
export async function* addressesOf(
  db: Executor,
  leaseId: number,
  { pageSize = 1000 }: { pageSize?: number } = {}
): AsyncGenerator<LeasedAddress[], void, undefined> {
  const ip = sql<string>`host(inventory.address_at(${chunks.base}, ${leaseBlocks.start} + nth))`
  let after = 0
  for (;;) {
    // Whole blocks, so that the next page starts with the next block.
    const blocks = await db
      .select({ id: leaseBlocks.id, length: leaseBlocks.length })
      .from(leaseBlocks)
      .where(and(eq(leaseBlocks.leaseId, leaseId), gt(leaseBlocks.id, after)))
      .orderBy(asc(leaseBlocks.id))
      .limit(pageSize)
    let addresses = 0
    const page = blocks.filter(block => addresses < pageSize && (addresses += block.length) > 0)
    const last = page.at(-1)
    if (!last) return
    yield await db
      .select({ ip, serverId: cidrs.serverId })
      .from(leaseBlocks)
      .innerJoin(chunks, eq(chunks.id, leaseBlocks.chunkId))
      .innerJoin(cidrs, eq(cidrs.id, chunks.cidrId))
      .innerJoin(sql`generate_series(0, ${leaseBlocks.length} - 1) as nth`, sql`true`)
      .where(and(eq(leaseBlocks.leaseId, leaseId), gt(leaseBlocks.id, after), lte(leaseBlocks.id, last.id)))
      .orderBy(asc(leaseBlocks.id), sql`nth`)
    if (page.length === blocks.length && blocks.length < pageSize) return
    after = last.id
  }
}

export type AddressUse = {
  /** Of the block. */
  id: number
  orderId: number
  leaseId: number
  rules: number[]
  from: Date
  /** Null while it is held. */
  to: Date | null
  /** When it was paid for; null for a reservation that was not. */
  activeFrom: Date | null
}

/** The orders that held an address, with their rules: at an instant, or ever without `at`. Newest first. */
export async function addressHolders(db: Executor, { ip, at }: { ip: string; at?: Date }): Promise<AddressUse[]> {
  const places = await db
    .select({ id: chunks.id, size: chunks.size, base: sql<string>`host(${chunks.base})` })
    .from(chunks)
    .innerJoin(cidrs, eq(cidrs.id, chunks.cidrId))
    .where(sql`${cidrs.cidr} >>= ${ip}::inet`)
  const target = unitNumber(ip)
  const held = places
    .map(place => ({ chunk: place.id, unit: target - unitNumber(place.base), size: place.size }))
    .filter(place => place.unit >= 0 && place.unit < place.size)
  if (held.length === 0) return []
  // A block starts at a multiple of its length, so only a few starts can contain the unit.
  const containing = held.map(({ chunk, unit }) =>
    and(
      eq(leaseBlocks.chunkId, chunk),
      inArray(
        leaseBlocks.start,
        [1, 8, 16, 32, 64, 128, 256].map(length => unit - (unit % length))
      ),
      sql`${leaseBlocks.start} + ${leaseBlocks.length} > ${unit}`
    )
  )
  return db
    .select({
      id: leaseBlocks.id,
      orderId: leases.orderId,
      leaseId: leases.id,
      rules: leaseBlocks.rules,
      from: leaseBlocks.leasedAt,
      to: leaseBlocks.releasedAt,
      activeFrom: leases.activatedAt
    })
    .from(leaseBlocks)
    .innerJoin(leases, eq(leases.id, leaseBlocks.leaseId))
    .where(
      and(
        or(...containing),
        // Truncated, because the database's instants are finer than a Date.
        at && sql`date_trunc('milliseconds', ${leaseBlocks.leasedAt}) <= ${at.toISOString()}`,
        at &&
          or(
            isNull(leaseBlocks.releasedAt),
            sql`date_trunc('milliseconds', ${leaseBlocks.releasedAt}) > ${at.toISOString()}`
          )
      )
    )
    .orderBy(sql`${leaseBlocks.id} desc`)
}
