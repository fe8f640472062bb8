import { and, asc, eq, inArray, isNull, or, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lockInventory } from './leasing.ts'
import { overlaps, parseCidr } from './ranges.ts'
import { idList, sortedIds } from './sql.ts'
import { aclRules, chunks, cidrs, leaseBlocks, leases, ruleUsage } from './tables.ts'

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

type UnusedCidr = {
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

export type CidrLine = {
  /** As it was typed. */
  text: string
  message: string
}

export type CidrRefusal =
  | { ok: false; reason: 'invalid'; lines: CidrLine[] }
  /** `with` shares addresses with it: a live range of the server `serverId`, or (null) of no server or a wanted one. */
  | { ok: false; reason: 'overlap'; cidr: string; with: string; serverId: number | null }
  /** Orders that hold addresses of the range, by id. */
  | { ok: false; reason: 'leased'; cidr: string; orders: number[] }

type LiveCidr = {
  id: number
  cidr: string
  serverId: number | null
}

/** What a step of a larger write needs: the caller's transaction, which keeps the inventory's lock until it ends. */
export type InTransaction = Pick<Unit, 'tx'>

/** Adds one range, to a server or (null) out of stock. */
export async function addCidr(
  { tx, now }: Pick<Unit, 'tx' | 'now'>,
  { cidr: text, serverId, excludedRules = [] }: { cidr: string; serverId: number | null; excludedRules?: number[] }
): Promise<{ ok: true; cidrId: number } | Exclude<CidrRefusal, { reason: 'leased' }>> {
  const parsed = parseCidr(text)
  if (!parsed.ok) return { ok: false, reason: 'invalid', lines: [{ text, message: parsed.message }] }
  await lockInventory(tx)
  const [clash] = await overlapping(tx, parsed.cidr)
  if (clash) return { ok: false, reason: 'overlap', cidr: parsed.cidr, with: clash.cidr, serverId: clash.serverId }
  return { ok: true, cidrId: await insertCidr(tx, { cidr: parsed.cidr, serverId, excludedRules, now }) }
}

/** Removes a range, unless addresses of it are leased. Its past leases stay in the history. */
export async function removeCidr(
  { tx }: InTransaction,
  cidrId: number
): Promise<{ ok: true } | { ok: false; reason: 'not_found' } | Extract<CidrRefusal, { reason: 'leased' }>> {
  await lockInventory(tx)
  const [found] = await tx
    .select({ cidr: cidrs.cidr })
    .from(cidrs)
    .where(and(eq(cidrs.id, cidrId), isNull(cidrs.deletedAt)))
  if (!found) return { ok: false, reason: 'not_found' }
  const orders = await ordersOn(tx, cidrId)
  if (orders.length > 0) return { ok: false, reason: 'leased', cidr: found.cidr, orders }
  await dropCidr(tx, cidrId)
  return { ok: true }
}

/**
 * Makes a server's ranges exactly these. It adds new ones and takes over those that no server has. Ranges left out stay
 * without a server, out of stock, until they are cleaned. After a refusal nothing has changed.
 */
export async function assignCidrs(
  { tx, now }: Pick<Unit, 'tx' | 'now'>,
  serverId: number,
  wanted: string[]
): Promise<{ ok: true; added: string[]; removed: string[] } | CidrRefusal> {
  const parsed = wanted.map(text => ({ text, result: parseCidr(text) }))
  const invalid = parsed.flatMap(({ text, result }) => (result.ok ? [] : [{ text, message: result.message }]))
  if (invalid.length > 0) return { ok: false, reason: 'invalid', lines: invalid }
  const ranges = [...new Set(parsed.flatMap(({ result }) => (result.ok ? [result.cidr] : [])))]
  const twice = ranges.flatMap((one, at) => ranges.slice(at + 1).map(other => [one, other] as const))
  const within = twice.find(([one, other]) => overlaps(one, other))
  if (within) return { ok: false, reason: 'overlap', cidr: within[0], with: within[1], serverId: null }

  await lockInventory(tx)
  const present = await tx
    .select({ id: cidrs.id, cidr: cidrs.cidr, serverId: cidrs.serverId })
    .from(cidrs)
    .where(and(eq(cidrs.serverId, serverId), isNull(cidrs.deletedAt)))
    .orderBy(asc(cidrs.id))
  const removed = present.filter(range => !ranges.includes(range.cidr))
  for (const range of removed) {
    const orders = await ordersOn(tx, range.id)
    if (orders.length > 0) return { ok: false, reason: 'leased', cidr: range.cidr, orders }
  }

  const added = ranges.filter(range => !present.some(({ cidr }) => cidr === range))
  const plan: CidrPlan[] = []
  for (const cidr of added) {
    const step = await planCidr(tx, cidr, removed)
    if ('ok' in step) return step
    plan.push(step)
  }
  for (const range of removed) await placeCidr(tx, range.id, null)
  // Before any range is added, because two of them may lie in one range that they replace.
  const replaced = plan.flatMap(step => step.replaces)
  for (const id of sortedIds(replaced)) await dropCidr(tx, id)
  for (const step of plan) {
    if (step.adopt === undefined) await insertCidr(tx, { cidr: step.cidr, serverId, excludedRules: [], now })
    else await placeCidr(tx, step.adopt, serverId)
  }
  return { ok: true, added, removed: removed.map(range => range.cidr) }
}

type CidrPlan = { cidr: string; adopt?: number; replaces: number[] }

/** How a range is added to a server. No other range with its addresses may be left. */
async function planCidr(
  tx: Executor,
  cidr: string,
  removed: LiveCidr[]
): Promise<CidrPlan | Extract<CidrRefusal, { reason: 'overlap' }>> {
  const clashes = await overlapping(tx, cidr)
  const same = clashes.find(clash => clash.cidr === cidr && clash.serverId === null)
  if (same) return { cidr, adopt: same.id, replaces: [] }
  const replaces: number[] = []
  for (const clash of clashes) {
    // The same addresses, cut differently: the old range goes if no server has it and no order leases from it.
    const unused = clash.serverId === null || removed.some(range => range.id === clash.id)
    if (!unused || (await ordersOn(tx, clash.id)).length > 0) {
      return { ok: false, reason: 'overlap', cidr, with: clash.cidr, serverId: clash.serverId }
    }
    replaces.push(clash.id)
  }
  return { cidr, replaces }
}

/** Sets the rules that a range is never sold with. Running leases go on. */
export async function excludeRules(
  { tx }: InTransaction,
  cidrId: number,
  rules: number[]
): Promise<
  { ok: true } | { ok: false; reason: 'not_found' } | { ok: false; reason: 'unknown_rules'; rules: number[] }
> {
  await lockInventory(tx)
  const known = await tx
    .select({ id: aclRules.id })
    .from(aclRules)
    .where(and(inArray(aclRules.id, rules), isNull(aclRules.deletedAt)))
  const unknown = sortedIds(rules).filter(rule => !known.some(({ id }) => id === rule))
  if (unknown.length > 0) return { ok: false, reason: 'unknown_rules', rules: unknown }
  const [found] = await tx
    .select({ id: cidrs.id })
    .from(cidrs)
    .where(and(eq(cidrs.id, cidrId), isNull(cidrs.deletedAt)))
  if (!found) return { ok: false, reason: 'not_found' }
  await tx.execute(sql`select inventory.exclude_rules(${cidrId}, ${idList(rules)})`)
  return { ok: true }
}

/** Removes the unused ranges (`unusedCidrs`) and returns them. Orders still lease from those in `kept`. */
export async function cleanUnused(
  { tx }: InTransaction,
  options: { ofServers?: number[] } = {}
): Promise<{ removed: UnusedCidr[]; kept: UnusedCidr[] }> {
  await lockInventory(tx)
  const { unused, kept } = await unusedCidrs(tx, options)
  for (const { id } of unused) await dropCidr(tx, id)
  return { removed: unused, kept }
}

async function overlapping(tx: Executor, range: string): Promise<LiveCidr[]> {
  return tx
    .select({ id: cidrs.id, cidr: cidrs.cidr, serverId: cidrs.serverId })
    .from(cidrs)
    .where(and(sql`${cidrs.cidr} && ${range}::inet`, isNull(cidrs.deletedAt)))
    .orderBy(asc(cidrs.id))
}

/** Orders that hold addresses of a range. The usage shows at once if there are none. */
async function ordersOn(tx: Executor, cidrId: number): Promise<number[]> {
  const rows = await tx
    .selectDistinct({ orderId: leases.orderId })
    .from(chunks)
    .innerJoin(leaseBlocks, eq(leaseBlocks.chunkId, chunks.id))
    .innerJoin(leases, eq(leases.id, leaseBlocks.leaseId))
    .where(
      and(
        eq(chunks.cidrId, cidrId),
        sql`exists (select 1 from rule_usage u where u.chunk_id = ${chunks.id} and bit_count(u.bits) > 0)`,
        isNull(leaseBlocks.releasedAt)
      )
    )
    .orderBy(asc(leases.orderId))
  return rows.map(row => row.orderId)
}

async function insertCidr(
  tx: Executor,
  { cidr, serverId, excludedRules, now }: { cidr: string; serverId: number | null; excludedRules: number[]; now: Date }
): Promise<number> {
  const { rows } = await tx.execute<{ id: number }>(
    sql`select inventory.add_cidr(${cidr}::cidr, ${serverId}, ${idList(excludedRules)}, ${now}) as id`
  )
  const id = rows[0]?.id
  if (id === undefined) throw new Error('the range was not added')
  return id
}

async function placeCidr(tx: Executor, cidrId: number, serverId: number | null): Promise<void> {
  await tx.execute(sql`select inventory.place_cidr(${cidrId}, ${serverId})`)
}

async function dropCidr(tx: Executor, cidrId: number): Promise<void> {
  await tx.execute(sql`select inventory.remove_cidr(${cidrId})`)
}
