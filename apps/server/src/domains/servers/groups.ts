import {
  ADDRESS_FAMILIES,
  type AddressFamily,
  type GroupPlan,
  type GroupPlanForm,
  type ServerGroup,
  type ServerGroupForm,
  type StockChange,
  refuse
} from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor, Transaction } from '../../infra/db/client.ts'
import { and, asc, eq, ilike, inArray, isNull, ne, or } from '../../infra/db/drizzle.ts'
import { containing } from '../../infra/db/like.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { type Edit, staleEdit, versionOf } from '../../infra/version.ts'
import { familyOf, ruleNames, serverCidrs, stockByRule, stockOfRangesByRule } from '../inventory/index.ts'
import { serverPlaces } from './geofeed/tables.ts'
import { nameTaken } from './form-refusals.ts'
import { type ServerRow, sells } from './server-row.ts'
import { serverGroupServers, serverGroups, servers } from './tables.ts'

/** The countries (ISO 3166-1) where operators say these groups' servers stand, by group. */
export async function countriesOfGroups(
  db: Executor,
  groupIds: readonly number[]
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (groupIds.length === 0) return new Map()
  const rows = await db
    .selectDistinct({ groupId: serverGroupServers.groupId, country: serverPlaces.country })
    .from(serverGroupServers)
    .innerJoin(serverPlaces, and(eq(serverPlaces.serverId, serverGroupServers.serverId), ne(serverPlaces.country, '')))
    .innerJoin(
      servers,
      and(eq(servers.id, serverGroupServers.serverId), isNull(servers.deletedAt), ne(servers.status, 'given_up'))
    )
    .where(inArray(serverGroupServers.groupId, [...groupIds]))
  const countries = new Map<number, string[]>()
  for (const { groupId, country } of rows)
    countries.set(groupId, [...(countries.get(groupId) ?? []), country.toUpperCase()])
  return countries
}

type GroupRow = typeof serverGroups.$inferSelect

/** Server groups, oldest first; search finds name or description. */
export const groupList = defineList<ListInput<'id'>, ServerGroup>({
  name: 'server_groups',
  table: serverGroups,
  id: serverGroups.id,
  sort: { id: serverGroups.id },
  match(_db, { search }) {
    const pattern = search && containing(search)
    const found = pattern ? or(ilike(serverGroups.name, pattern), ilike(serverGroups.description, pattern)) : undefined
    return { where: [isNull(serverGroups.deletedAt), found] }
  },
  load: async (db, ids) => present(db, await db.select().from(serverGroups).where(among(serverGroups.id, ids)))
})

const unique = { server_groups_name_key: nameTaken }

export const createGroup = (ctx: AppContext, by: Actor, form: ServerGroupForm): Promise<Result<ServerGroup>> =>
  command(ctx, by, { unique }, async unit => {
    const { name, description } = form
    const [row] = await unit.tx.insert(serverGroups).values({ name, description, createdAt: unit.now }).returning()
    if (!row) throw new Error('the group was not created')
    const set = await setServers(unit.tx, row.id, form.servers)
    if (!set.ok) return set
    const after = await presentOne(unit.tx, row)
    unit.audit('server_group.create', row.id, { after })
    return ok(after)
  })

export const updateGroup = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<ServerGroupForm>
): Promise<Result<ServerGroup>> =>
  command(ctx, by, { unique }, async unit => {
    const row = await lockGroup(unit.tx, id)
    if (!row) return refuse('not_found')
    const before = await presentOne(unit.tx, row)
    const stale = staleEdit(version, before, {
      now: fieldsOf(before, idsOf(before.servers)),
      sent: fieldsOf(form, form.servers)
    })
    if (stale) return stale
    const { name, description } = form
    await unit.tx.update(serverGroups).set({ name, description }).where(eq(serverGroups.id, id))
    const set = await setServers(unit.tx, id, form.servers)
    if (!set.ok) return set
    const after = await presentOne(unit.tx, { ...row, name, description })
    unit.audit('server_group.edit', id, { before, after })
    return ok(after)
  })

/** Names of the variants that sell from a server group, by id. */
export type VariantsSellingFrom = (tx: Executor, groupId: number) => Promise<string[]>

/** A refusal names at most this many variants. */
const NAMED_VARIANTS = 5

/** Removes a group that no variant sells from. Orders delivered from it keep their addresses. */
export const deleteGroup = (
  ctx: AppContext,
  by: Actor,
  id: number,
  variantsSellingFrom: VariantsSellingFrom
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const row = await lockGroup(unit.tx, id)
    if (!row) return refuse('not_found')
    const selling = await variantsSellingFrom(unit.tx, id)
    if (selling.length > 0) {
      return refuse('server_group_sells', { params: { variants: selling.slice(0, NAMED_VARIANTS).join(', ') } })
    }
    const before = await presentOne(unit.tx, row)
    await unit.tx.update(serverGroups).set({ deletedAt: unit.now }).where(eq(serverGroups.id, id))
    unit.audit('server_group.delete', id, { before })
    return done
  })

/** What changing or removing a group would do to its variants and stock. It only reads. */
export async function planGroup(
  { db }: Pick<AppContext, 'db'>,
  id: number,
  { servers: wanted, remove }: GroupPlanForm,
  variantsSellingFrom: VariantsSellingFrom
): Promise<Result<GroupPlan>> {
  const [row] = await db
    .select()
    .from(serverGroups)
    .where(and(eq(serverGroups.id, id), isNull(serverGroups.deletedAt)))
  if (!row) return refuse('not_found')
  const before = await presentOne(db, row)
  const stock = await stockOfGroups(db, [id])
  const variants = await variantsSellingFrom(db, id)
  const ids = remove ? [] : [...new Set(wanted)]
  const known = await db
    .select()
    .from(servers)
    .where(and(inArray(servers.id, [...ids, ...idsOf(before.servers)]), isNull(servers.deletedAt)))
    .orderBy(asc(servers.id))
  if (ids.some(one => !known.some(server => server.id === one))) return fieldRefusal('servers', 'choice_gone')
  const isIn = (server: { id: number }) => before.servers.some(one => one.id === server.id)
  const added = known.filter(server => !isIn(server))
  const removed = known.filter(server => !ids.includes(server.id))
  const freeOf = async (all: typeof known) => {
    const free = []
    for (const server of all) free.push(await stockOfRanges(db, server, await serverCidrs(db, server.id)))
    return free
  }
  return ok({
    added: added.map(({ name }) => name),
    removed: removed.map(({ name }) => name),
    variants,
    stock: stockChanges(
      stock,
      remove ? [] : stockAfter(stock, { come: await freeOf(added), gone: await freeOf(removed) })
    )
  })
}

async function lockGroup(tx: Transaction, id: number): Promise<GroupRow | undefined> {
  const [row] = await tx
    .select()
    .from(serverGroups)
    .where(and(eq(serverGroups.id, id), isNull(serverGroups.deletedAt)))
    .for('update')
  return row
}

async function setServers(tx: Transaction, groupId: number, ids: number[]): Promise<Result<null>> {
  const wanted = [...new Set(ids)]
  const known = await tx
    .select({ id: servers.id })
    .from(servers)
    .where(and(inArray(servers.id, wanted), isNull(servers.deletedAt)))
    .for('share')
  if (known.length < wanted.length) return fieldRefusal('servers', 'choice_gone')
  await tx.delete(serverGroupServers).where(eq(serverGroupServers.groupId, groupId))
  if (wanted.length > 0) await tx.insert(serverGroupServers).values(wanted.map(serverId => ({ groupId, serverId })))
  return done
}

async function presentOne(db: Executor, row: GroupRow): Promise<ServerGroup> {
  const [group] = await present(db, [row])
  if (!group) throw new Error('one row makes one group')
  return group
}

async function present(db: Executor, rows: GroupRow[]): Promise<ServerGroup[]> {
  if (rows.length === 0) return []
  const ids = rows.map(row => row.id)
  const members = await db
    .select({ groupId: serverGroupServers.groupId, id: servers.id, name: servers.name })
    .from(serverGroupServers)
    .innerJoin(servers, eq(servers.id, serverGroupServers.serverId))
    .where(and(inArray(serverGroupServers.groupId, ids), isNull(servers.deletedAt)))
    .orderBy(asc(servers.id))
  const byGroup = Map.groupBy(members, member => member.groupId)
  return rows.map(({ id, name, description }) => {
    const inIt = (byGroup.get(id) ?? []).map(server => ({ id: server.id, name: server.name }))
    const version = versionOf(fieldsOf({ name, description }, idsOf(inIt)))
    return { id, name, description, servers: inIt, version }
  })
}

const idsOf = (rows: readonly { id: number }[]) => rows.map(row => row.id)

/** What the form of a group shows; servers by id. */
const fieldsOf = ({ name, description }: Pick<ServerGroup, 'name' | 'description'>, serverIds: readonly number[]) => ({
  name,
  description,
  servers: serverIds.toSorted((a, b) => a - b)
})

type Stock = {
  group: { id: number; name: string }
  rule: { id: number; name: string }
  family: AddressFamily
  stock: number
}

/** The groups that a server is in, by id. */
export async function groupsOfServer(db: Executor, serverId: number): Promise<number[]> {
  const rows = await db
    .select({ id: serverGroups.id })
    .from(serverGroupServers)
    .innerJoin(serverGroups, eq(serverGroups.id, serverGroupServers.groupId))
    .where(and(eq(serverGroupServers.serverId, serverId), isNull(serverGroups.deletedAt)))
    .orderBy(asc(serverGroups.id))
  return rows.map(({ id }) => id)
}

/** Free addresses of every rule in each of these groups, one by one and by family. */
export async function stockOfGroups(db: Executor, groupIds: number[]): Promise<Stock[]> {
  if (groupIds.length === 0) return []
  const groups = await db
    .select({ id: serverGroups.id, name: serverGroups.name })
    .from(serverGroups)
    .where(inArray(serverGroups.id, groupIds))
    .orderBy(asc(serverGroups.id))
  const names = await ruleNames(db)
  const all: Stock[] = []
  for (const group of groups)
    for (const family of ADDRESS_FAMILIES)
      for (const { ruleId, stock } of await stockByRule(db, { groupId: group.id, step: 1, family }))
        all.push({ group, rule: { id: ruleId, name: names.get(ruleId) ?? `#${ruleId}` }, family, stock })
  return all
}

/** Free addresses by rule and family. */
type Free = ReadonlyMap<string, number>

const keyOf = (ruleId: number, family: AddressFamily): string => `${ruleId}.${family}`

/** Free addresses under every rule in ranges that a server has or will have. A range that is not sold has none. */
export async function stockOfRanges(
  db: Executor,
  server: Pick<ServerRow, 'status' | 'offline' | 'unservedSince' | 'refusedRanges' | 'withheldRanges'>,
  ranges: string[]
): Promise<Free> {
  if (ranges.length === 0 || !sells(server)) return new Map()
  const without = [...server.refusedRanges, ...server.withheldRanges]
  const free = new Map<string, number>()
  for (const family of ADDRESS_FAMILIES) {
    const own = ranges.filter(range => familyOf(range) === family)
    if (own.length === 0) continue
    const counted = await stockOfRangesByRule(db, { ranges: own, without })
    for (const { ruleId, stock } of counted) free.set(keyOf(ruleId, family), stock)
  }
  return free
}

/** The stock once addresses come to each group or leave it. Never below 0, because some may have been sold since. */
export const stockAfter = (before: Stock[], { come = [], gone = [] }: { come?: Free[]; gone?: Free[] }): Stock[] =>
  before.map(one => {
    const sumOf = (all: Free[]) => all.reduce((sum, free) => sum + (free.get(keyOf(one.rule.id, one.family)) ?? 0), 0)
    return { ...one, stock: Math.max(0, one.stock + sumOf(come) - sumOf(gone)) }
  })

/** Entries with another stock. An entry missing in `after` has none. */
export function stockChanges(before: Stock[], after: Stock[]): StockChange[] {
  const placeOf = ({ group, rule, family }: Stock) => `${group.id}.${keyOf(rule.id, family)}`
  const then = new Map(after.map(one => [placeOf(one), one.stock]))
  return before.flatMap(one => {
    const left = then.get(placeOf(one)) ?? 0
    const { group, rule, family, stock } = one
    return left === stock ? [] : [{ group, rule, family, before: stock, after: left }]
  })
}
