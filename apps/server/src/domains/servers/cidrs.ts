import { type Cidr, type Occupancy, refuse } from '@netlet/contract'
import { and, asc, eq, gt, inArray, isNotNull, isNull, sql } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { type Edit, staleEdit, versionOf } from '../../infra/version.ts'
import type { AppContext } from '../../infra/context.ts'
import {
  addressCount,
  cleanUnused,
  excludeRules,
  lockInventory,
  occupancyOf,
  ruleNames,
  unusedCidrs
} from '../inventory/index.ts'
import { cidrs } from '../inventory/tables.ts'
import { servers } from './tables.ts'

/** A plan names at most this many ranges. */
const NAMED = 200

type Which = { ofRemovedServers: boolean }

/** The ranges that cleaning would remove now. It only reads, without the inventory's lock. */
export async function planCleaning(db: Executor, which: Which) {
  const { unused } = await unusedCidrs(db, { ofServers: await removedServers(db, which) })
  return ok({
    count: unused.length,
    cidrs: unused.slice(0, NAMED).map(({ id, cidr }) => ({ id, cidr })),
    plan: planOf(unused)
  })
}

/**
 * Removes ranges that belong to no server and have no leases; on request also those of removed servers.
 * @param which.plan the approved plan; refused as stale if other ranges would go now
 */
export const cleanUnusedCidrs = (
  ctx: AppContext,
  by: Actor,
  { plan, ...which }: Which & { plan?: string | undefined }
) =>
  command(ctx, by, async unit => {
    // Lock first: the removal of a server releases its ranges under this lock.
    await lockInventory(unit.tx)
    const { removed } = await cleanUnused(unit, { ofServers: await removedServers(unit.tx, which) })
    if (plan !== undefined && plan !== planOf(removed)) return refuse('stale')
    const results = {
      deleted_count: removed.length,
      cidr_details: removed.map(({ id, cidr }) => ({ id, cidr }))
    }
    if (removed.length > 0) unit.audit('cidr.clean', 'all', { before: results.cidr_details })
    return ok({ results, ...results })
  })

async function removedServers(db: Executor, { ofRemovedServers }: Which): Promise<number[]> {
  if (!ofRemovedServers) return []
  const gone = await db.select({ id: servers.id }).from(servers).where(isNotNull(servers.deletedAt))
  return gone.map(({ id }) => id)
}

const planOf = (ranges: readonly { id: number }[]): string => versionOf({ ids: ranges.map(({ id }) => id) })

type CidrQuery = ListInput<'id' | 'cidr' | 'delivery_count'> & {
  delivery_count_exact?: number | undefined
  /** Exclusive. */
  delivery_count_min?: number | undefined
  exclude_acl?: number | undefined
  sold_with?: number | undefined
  group_id?: number | undefined
  unreferenced?: boolean | undefined
  server_id?: number | undefined
}

type CidrRow = typeof cidrs.$inferSelect

/** A removed server no longer refers to its ranges. */
const referenced = sql`exists (select 1 from servers s where s.id = ${cidrs.serverId} and s.deleted_at is null)`

/** Ranges by every filter of the list; ties by id, ascending. */
export const cidrList = defineList<CidrQuery, Cidr>({
  name: 'cidrs',
  table: cidrs,
  id: cidrs.id,
  sort: {
    id: cidrs.id,
    cidr: { by: cidrs.cidr, ties: 'asc' },
    delivery_count: { by: cidrs.deliveryCount, ties: 'asc' }
  },
  match: (_db, { search, delivery_count_exact: exact, delivery_count_min: min, ...query }) => ({
    where: [
      isNull(cidrs.deletedAt),
      search ? sql`${cidrs.cidr}::text ilike ${containing(search)}` : undefined,
      exact === undefined ? undefined : eq(cidrs.deliveryCount, exact),
      min === undefined ? undefined : gt(cidrs.deliveryCount, min),
      query.exclude_acl === undefined ? undefined : sql`${query.exclude_acl} = any(${cidrs.excludedRules})`,
      query.sold_with === undefined ? undefined : sql`not (${query.sold_with} = any(${cidrs.excludedRules}))`,
      query.group_id === undefined
        ? undefined
        : sql`${cidrs.serverId} in (select m.server_id from server_group_servers m where m.group_id = ${query.group_id})`,
      query.unreferenced ? sql`not ${referenced}` : undefined,
      query.server_id === undefined ? undefined : and(eq(cidrs.serverId, query.server_id), referenced)
    ]
  }),
  load: async (db, ids) => present(db, await db.select().from(cidrs).where(among(cidrs.id, ids)))
})

/** Each server's ranges, ascending. */
export async function rangesOfServers(
  db: Executor,
  serverIds: number[]
): Promise<Map<number, { id: number; cidr: string }[]>> {
  const rows = await db
    .select({ id: cidrs.id, cidr: cidrs.cidr, serverId: cidrs.serverId })
    .from(cidrs)
    .where(and(inArray(cidrs.serverId, serverIds), isNull(cidrs.deletedAt)))
    .orderBy(asc(cidrs.cidr))
  const ranges = new Map<number, { id: number; cidr: string }[]>()
  for (const { id, cidr, serverId } of rows) {
    if (serverId !== null) ranges.set(serverId, [...(ranges.get(serverId) ?? []), { id, cidr }])
  }
  return ranges
}

/** Sets the rules that a range is never sold with. */
export const editCidr = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, exclude_acl: rules }: Edit<{ exclude_acl: number[] }>
): Promise<Result<Cidr>> =>
  command(ctx, by, async unit => {
    await lockInventory(unit.tx)
    const before = await read(unit.tx, id)
    const now = before && fieldsOf(before.exclude_acl.map(rule => rule.id))
    const stale = now && staleEdit(version, before, { now, sent: fieldsOf(rules) })
    if (stale) return stale
    const excluded = await excludeRules(unit, id, rules)
    if (!excluded.ok)
      return excluded.reason === 'not_found' ? refuse('not_found') : fieldRefusal('exclude_acl', 'choice_gone')
    const after = await read(unit.tx, id)
    if (!after) return refuse('not_found')
    unit.audit('cidr.edit', id, { before, after })
    return ok(after)
  })

/** How a range is used, and which server has it. */
export async function cidrBlocks(
  ctx: AppContext,
  id: number,
  query: { rule?: number | undefined; part?: string | undefined }
): Promise<Result<Occupancy>> {
  const found = await occupancyOf(ctx, id, query)
  if (!found.ok) return found
  const { serverId, ...occupancy } = found.data
  return ok({ ...occupancy, server: serverId === null ? null : ((await serversById(ctx.db, [serverId]))[0] ?? null) })
}

const serversById = (db: Executor, ids: number[]) =>
  db
    .select({ id: servers.id, name: servers.name })
    .from(servers)
    .where(and(inArray(servers.id, ids), isNull(servers.deletedAt)))

async function read(db: Executor, id: number): Promise<Cidr | undefined> {
  const rows = await db
    .select()
    .from(cidrs)
    .where(and(eq(cidrs.id, id), isNull(cidrs.deletedAt)))
  return (await present(db, rows))[0]
}

async function present(db: Executor, rows: CidrRow[]): Promise<Cidr[]> {
  const serverIds = [...new Set(rows.flatMap(row => row.serverId ?? []))]
  const owners = serverIds.length === 0 ? [] : await serversById(db, serverIds)
  const names = rows.some(row => row.excludedRules.length > 0) ? await ruleNames(db) : new Map<number, string>()
  return rows.map(row => {
    const owner = owners.filter(server => server.id === row.serverId)
    return {
      id: row.id,
      cidr: row.cidr,
      ip_count: addressCount(row.cidr),
      exclude_acl: row.excludedRules.map(rule => ({ id: rule, name: names.get(rule) ?? `#${rule}` })),
      delivery_count: row.deliveryCount,
      server_ids: owner.map(server => server.id),
      servers: owner,
      created_at: iso(row.createdAt),
      version: versionOf(fieldsOf(row.excludedRules))
    }
  })
}

/** What the form of a range shows: the rules that it is never sold with. */
const fieldsOf = (rules: readonly number[]) => ({ exclude_acl: [...new Set(rules)].toSorted((a, b) => a - b) })
