import type { OrderFamily } from '@netlet/contract'
import { and, eq, inArray, isNull, ne, sql } from '../../infra/db/drizzle.ts'
import { type Executor, sqlState, type Transaction } from '../../infra/db/client.ts'
import { bigIdList, familyNumber, idList } from './sql.ts'
import { chunks, leaseBlocks, leases } from './tables.ts'

export type Reservation = {
  orderId: number
  groupId: number
  step: number
  /** At least one. */
  rules: number[]
  /** Addresses: a positive multiple of the step. */
  quantity: number
  /** Servers to take none from. */
  avoid?: number[]
  /** `ipv4` by default. */
  family?: OrderFamily
}

export type Reserved = { ok: true; leaseId: number } | { ok: false; reason: 'out_of_stock' }

/**
 * Takes addresses out of stock for an order, in the caller's transaction. Make it the last step before the commit, with
 * no call to a third party after it. After a refusal nothing has changed and the transaction can go on.
 * @throws RangeError if the quantity is no multiple of the step, or no rule is given
 */
export function reserve(tx: Executor, wanted: Reservation): Promise<Reserved> {
  return take(tx, wanted, false)
}

/**
 * Reserves other addresses for an order: never its present ones, and those that it gave back earlier only if no others
 * are free. The present lease stays until it is released.
 * @throws RangeError as `reserve`
 */
export function reserveOther(tx: Executor, wanted: Reservation): Promise<Reserved> {
  return take(tx, wanted, true)
}

/**
 * Like `reserveOther`, but without addresses that the order gave back at or after `since`. If there are no others, it
 * is out of stock and nothing has changed.
 */
export async function reserveNotHeldSince(tx: Transaction, wanted: Reservation, since: Date): Promise<Reserved> {
  const { orderId } = wanted
  try {
    return await tx.transaction(async attempt => {
      const made = await reserveOther(attempt, wanted)
      if (made.ok && (await gaveBack(attempt, { orderId, leaseId: made.leaseId, since }))) throw new HeldSinceError()
      return made
    })
  } catch (error) {
    if (error instanceof HeldSinceError) return { ok: false, reason: 'out_of_stock' }
    throw error
  }
}

/** Rolls back the savepoint of a reservation. */
class HeldSinceError extends Error {}

const NOT_FREE = new Set(['23P01', '23514'])

/**
 * Reserves exactly these ranges of servers for an order.
 * @returns false if they are not what it bought or not all free; then nothing has changed
 */
export async function reserveThese(
  tx: Transaction,
  wanted: Reservation,
  ranges: { server: number; prefixes: string[] }[]
): Promise<boolean> {
  const { orderId, groupId, step, rules } = wanted
  const blocks = blocksOf(wanted)
  try {
    return await tx.transaction(async attempt => {
      await attempt.execute(sql`select inventory.share()`)
      const { rows } = await attempt.execute<{ chunk: number; start: number }>(sql`
        select c.id as chunk, start
        from jsonb_to_recordset(${JSON.stringify(ranges)}::jsonb) as r(server bigint, prefixes inet[])
        join chunks c on c.server_id = r.server
        join cidrs own on own.id = c.cidr_id and own.cidr && any (r.prefixes)
        cross join lateral generate_series(0, c.size - ${step}::int, ${step}::int) as start
        where inventory.address_at(c.base, start) <<= any (r.prefixes)
          and inventory.address_at(c.base, start + ${step}::int - 1) <<= any (r.prefixes)
        order by 1, 2 limit ${blocks + 1}`)
      if (rows.length !== blocks) return false
      const { rows: made } = await attempt.execute<{ id: number }>(sql`
        insert into ${leases} (order_id, group_id, step, rules, blocks, created_at)
        values (${orderId}, ${groupId}, ${step}, ${idList(rules)}, ${blocks}, inventory.clock()) returning id`)
      await attempt.execute(sql`
        insert into ${leaseBlocks} (lease_id, chunk_id, start, length, rules, leased_at)
        select ${made[0]?.id}::bigint, chunk, start, ${step}::int, ${idList(rules)}, inventory.clock()
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as b(chunk int, start int) order by chunk, start`)
      return true
    })
  } catch (error) {
    if (NOT_FREE.has(sqlState(error) ?? '')) return false
    throw error
  }
}

/** Whether a lease has addresses that its order gave back since then. */
async function gaveBack(
  db: Executor,
  { orderId, leaseId, since }: { orderId: number; leaseId: number; since: Date }
): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select 1 from ${leases} l join ${leaseBlocks} b on b.lease_id = l.id and b.released_at >= ${since.toISOString()}
    join ${leaseBlocks} n on n.lease_id = ${leaseId} and n.chunk_id = b.chunk_id
      and n.start < b.start + b.length and b.start < n.start + n.length
    where l.order_id = ${orderId} limit 1`)
  return rows.length > 0
}

/**
 * Reserves as many of the wanted blocks as there are. If other buyers are faster, it may get fewer: ask again later.
 * @returns the lease and its number of addresses; null if there is no block
 * @throws RangeError as `reserve`
 */
export async function reservePart(
  tx: Executor,
  wanted: Reservation
): Promise<{ leaseId: number; addresses: number } | null> {
  const { orderId, groupId, step, rules, avoid = [], family = 'ipv4' } = wanted
  const { rows } = await tx.execute<{ id: number | null }>(
    sql`select inventory.reserve_part(${orderId}, ${groupId}, ${step}, ${idList(rules)}, ${blocksOf(wanted)}, ${bigIdList(avoid)}, ${familyNumber(family)}) as id`
  )
  const leaseId = rows[0]?.id
  if (!leaseId) return null
  const [lease] = await tx.select({ blocks: leases.blocks }).from(leases).where(eq(leases.id, leaseId))
  return { leaseId, addresses: (lease?.blocks ?? 0) * step }
}

async function take(tx: Executor, wanted: Reservation, other: boolean): Promise<Reserved> {
  const { orderId, groupId, step, rules, avoid = [], family = 'ipv4' } = wanted
  const { rows } = await tx.execute<{ leaseId: number | null }>(
    sql`select inventory.reserve(${orderId}, ${groupId}, ${step}, ${idList(rules)}, ${blocksOf(wanted)}, ${other}, ${bigIdList(avoid)}, ${familyNumber(family)}) as "leaseId"`
  )
  const leaseId = rows[0]?.leaseId
  return leaseId ? { ok: true, leaseId } : { ok: false, reason: 'out_of_stock' }
}

function blocksOf({ quantity, step, rules }: Reservation): number {
  const blocks = quantity / step
  if (!Number.isInteger(blocks) || blocks < 1) throw new RangeError(`${quantity} is no positive multiple of ${step}`)
  if (rules.length === 0) throw new RangeError('a reservation needs at least one rule')
  return blocks
}

/**
 * Activates a paid order's reservations, and counts them as delivered at their ranges. Repeating it changes nothing.
 * @returns how many addresses it activated
 */
export async function activate(tx: Executor, orderId: number): Promise<number> {
  const { rows } = await tx.execute<{ addresses: number }>(sql`select inventory.activate(${orderId}) as addresses`)
  return rows[0]?.addresses ?? 0
}

/**
 * Returns addresses to stock; those that were in use rest for `quarantine_hours` first. Repeating it changes nothing.
 * Release many in one call, not in many calls of one transaction (see `lockInventory`).
 * @returns the leases that this call released
 */
export async function release(
  tx: Executor,
  what: { orderId: number } | { orderIds: number[] } | { leaseIds: number[] }
): Promise<number[]> {
  const leases = 'leaseIds' in what ? what.leaseIds : []
  const orders = 'orderIds' in what ? what.orderIds : 'orderId' in what ? [what.orderId] : []
  const { rows } = await tx.execute<{ id: number }>(
    sql`select unnest(inventory.release(${bigIdList(leases)}, ${bigIdList(orders)})) as id`
  )
  return rows.map(row => row.id)
}

/**
 * Deletes the released leases of orders that were never paid, because these addresses were never used. Leases that were
 * active are history and stay.
 */
export async function forgetLeases(tx: Transaction, orderIds: number[]): Promise<void> {
  const never = tx
    .select({ id: leases.id })
    .from(leases)
    .where(and(inArray(leases.orderId, orderIds), eq(leases.state, 'released'), isNull(leases.activatedAt)))
  await tx.delete(leaseBlocks).where(inArray(leaseBlocks.leaseId, never))
  await tx.delete(leases).where(inArray(leases.id, never))
}

/**
 * Keeps other transactions from leasing and releasing until this one ends. A transaction that reserves or releases more
 * than once needs it before the first call: each call locks in ascending order, but the second may start below the
 * first.
 */
export async function lockInventory(tx: Executor): Promise<void> {
  await tx.execute(sql`select inventory.own()`)
}

/**
 * Makes what a lease holds on one server a lease of its own, so that it can be replaced while the rest stays.
 * @param most at most this many blocks
 * @returns that lease: the same one if nothing else is left of it, null if it holds nothing there
 */
export async function splitLease(
  tx: Executor,
  leaseId: number,
  serverId: number,
  most: number | null = null
): Promise<number | null> {
  const { rows } = await tx.execute<{ id: number | null }>(
    sql`select inventory.split(${leaseId}, ${serverId}, ${most}::int) as id`
  )
  return rows[0]?.id ?? null
}

/**
 * Makes what a lease holds in some ranges of a server a lease of its own, as `splitLease`.
 * @returns that lease: the same one if nothing else is left of it, null if it holds nothing there
 */
export async function splitByRanges(
  tx: Executor,
  leaseId: number,
  { serverId, ranges }: { serverId: number; ranges: string[] }
): Promise<number | null> {
  await tx.execute(sql`select inventory.share()`)
  const [lease] = await tx
    .select()
    .from(leases)
    .where(and(eq(leases.id, leaseId), ne(leases.state, 'released')))
    .for('update')
  const blocks = await tx
    .select({ id: leaseBlocks.id })
    .from(leaseBlocks)
    .innerJoin(chunks, and(eq(chunks.id, leaseBlocks.chunkId), eq(chunks.serverId, serverId)))
    .where(
      and(
        eq(leaseBlocks.leaseId, leaseId),
        isNull(leaseBlocks.releasedAt),
        sql`${chunks.base} <<= any (${sql.param(ranges)}::inet[])`
      )
    )
  if (!lease || blocks.length === 0) return null
  if (blocks.length === lease.blocks) return leaseId
  const { id: _id, ...same } = lease
  const [made] = await tx
    .insert(leases)
    .values({ ...same, blocks: blocks.length })
    .returning({ id: leases.id })
  if (!made) throw new Error('the lease was not added')
  await tx
    .update(leases)
    .set({ blocks: lease.blocks - blocks.length })
    .where(eq(leases.id, leaseId))
  const ids = blocks.map(({ id }) => id)
  await tx.update(leaseBlocks).set({ leaseId: made.id }).where(inArray(leaseBlocks.id, ids))
  return made.id
}

/** Other addresses replace these leases, which are released once the new addresses are served. */
export async function markReplaced(tx: Executor, leaseIds: number[]): Promise<void> {
  if (leaseIds.length === 0) return
  await tx
    .update(leases)
    .set({ replaced: true })
    .where(and(inArray(leases.id, leaseIds), ne(leases.state, 'released')))
}

/** No addresses replace these leases, so the order keeps them. */
export async function markKept(tx: Executor, leaseIds: number[]): Promise<void> {
  if (leaseIds.length === 0) return
  await tx
    .update(leases)
    .set({ replaced: false })
    .where(and(inArray(leases.id, leaseIds), ne(leases.state, 'released')))
}

/** Returns blocks that have rested long enough to stock. @returns how many, at most `most` */
export async function endQuarantine(tx: Executor, now: Date, most: number): Promise<number> {
  const { rows } = await tx.execute<{ ended: number }>(
    sql`select inventory.end_rest(${now.toISOString()}::timestamptz, ${most}) as ended`
  )
  return rows[0]?.ended ?? 0
}
