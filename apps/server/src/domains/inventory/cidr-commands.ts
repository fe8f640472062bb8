import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { unusedCidrs, type UnusedCidr } from './cidr-queries.ts'
import { lockInventory } from './leasing.ts'
import { overlaps, parseCidr } from './ranges.ts'
import { idList, sortedIds } from './sql.ts'
import { aclRules, chunks, cidrs, leaseBlocks, leases } from './tables.ts'

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
