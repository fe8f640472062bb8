import { isIPv6 } from 'node:net'
import { and, eq, gt, isNull, lt, ne, or, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, type Match } from '../../infra/list/index.ts'
import { addressToNumber, numberToAddress, parseCidr, type ParsedCidr, rangeAt, unitNumber } from './ranges.ts'
import { chunks, cidrs, leaseBlocks, leases } from './tables.ts'

/** Reads an address or a range of the history. A lone IPv6 address stands for its /64, which is leased as one. */
export function parseAddress(text: string): ParsedCidr {
  const address = text.trim()
  if (!isIPv6(address) || address.includes('%')) return parseCidr(address)
  return parseCidr(`${numberToAddress((addressToNumber(address) >> 64n) << 64n, 128)}/64`)
}

type Span = { from?: Date | undefined; to?: Date | undefined }

/** The blocks of the lease history in a range (as `parseCidr` writes it) and a time span, even of a removed range. */
export async function historyIn(db: Executor, range: string, { from, to }: Span): Promise<Match> {
  const places = await db
    .select({ id: chunks.id, size: chunks.size, base: sql<string>`host(${chunks.base})` })
    .from(chunks)
    .innerJoin(cidrs, eq(cidrs.id, chunks.cidrId))
    .where(sql`${cidrs.cidr} && ${range}::inet`)
  const [address = ''] = range.split('/')
  const parsed = parseCidr(range)
  const [first, units] = [unitNumber(address), parsed.ok ? parsed.units : 0]
  const inside = places.flatMap(({ id, size, base }) => {
    const begin = Math.max(first - unitNumber(base), 0)
    const end = Math.min(first - unitNumber(base) + units, size)
    return begin < end ? [{ id, begin, end, whole: begin === 0 && end === size }] : []
  })
  const parts = inside.filter(({ whole }) => !whole)
  return {
    anyOf: [{ column: leaseBlocks.chunkId, among: inside.map(({ id }) => id) }],
    where: [
      ...parts.map(({ id, begin, end }) =>
        or(
          ne(leaseBlocks.chunkId, id),
          and(lt(leaseBlocks.start, end), sql`${leaseBlocks.start} + ${leaseBlocks.length} > ${begin}`)
        )
      ),
      to && lt(leaseBlocks.leasedAt, to),
      from && or(isNull(leaseBlocks.releasedAt), gt(leaseBlocks.releasedAt, from))
    ] satisfies (SQL | undefined)[]
  }
}

export type HistoryEntry = {
  id: number
  address: string
  orderId: number
  rules: number[]
  leasedAt: Date
  activeFrom: Date | null
  releasedAt: Date | null
}

/** Blocks of the lease history by their ids. */
export async function historyEntries(db: Executor, ids: number[]): Promise<HistoryEntry[]> {
  const rows = await db
    .select({
      id: leaseBlocks.id,
      base: sql<string>`host(inventory.unit_at(${chunks.base}, ${leaseBlocks.start}))`,
      units: leaseBlocks.length,
      orderId: leases.orderId,
      rules: leaseBlocks.rules,
      leasedAt: leaseBlocks.leasedAt,
      activeFrom: leases.activatedAt,
      releasedAt: leaseBlocks.releasedAt
    })
    .from(leaseBlocks)
    .innerJoin(chunks, eq(chunks.id, leaseBlocks.chunkId))
    .innerJoin(leases, eq(leases.id, leaseBlocks.leaseId))
    .where(among(leaseBlocks.id, ids))
  return rows.map(({ base, units, ...row }) => ({ ...row, address: rangeAt(base, 0, units) }))
}

/** The live range that contains an address. */
export async function rangeOf(db: Executor, address: string) {
  const [range] = await db
    .select({ id: cidrs.id, cidr: cidrs.cidr, serverId: cidrs.serverId })
    .from(cidrs)
    .where(and(sql`${cidrs.cidr} >>= ${address}::inet`, isNull(cidrs.deletedAt)))
  return range
}
