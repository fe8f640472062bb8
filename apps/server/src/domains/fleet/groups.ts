import { refuse, type ServerGroup, type ServerGroupForm } from '@netlet/contract'
import { and, asc, eq, ilike, inArray, isNull, or } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import type { Executor, Transaction } from '../../infra/db/client.ts'
import { transact } from '../../infra/db/transact.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { variants } from '../catalog/tables.ts'
import { withUniqueName } from './refusals.ts'
import { serverGroups, serverGroupServers, servers } from './tables.ts'

type GroupRow = typeof serverGroups.$inferSelect

/** Server groups, oldest first: found by name or description. */
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

export async function createGroup(
  ctx: Pick<AppContext, 'db'>,
  actor: Actor,
  form: ServerGroupForm
): Promise<Result<ServerGroup>> {
  return withUniqueName('server_groups_name_key', () =>
    transact(ctx.db, async tx => {
      const { name, description } = form
      const [row] = await tx.insert(serverGroups).values({ name, description }).returning()
      if (!row) throw new Error('the group was not created')
      const set = await setServers(tx, row.id, form.servers)
      if (!set.ok) return set
      const after = await presentOne(tx, row)
      const entry = { action: 'create server group', targetType: 'server group', targetId: row.id, after }
      await record(tx, actor, entry)
      return ok(after)
    })
  )
}

export async function updateGroup(
  ctx: Pick<AppContext, 'db'>,
  actor: Actor,
  id: number,
  form: ServerGroupForm
): Promise<Result<ServerGroup>> {
  return withUniqueName('server_groups_name_key', () =>
    transact(ctx.db, async tx => {
      const row = await lockGroup(tx, id)
      if (!row) return refuse('not_found')
      const before = await presentOne(tx, row)
      const { name, description } = form
      await tx.update(serverGroups).set({ name, description }).where(eq(serverGroups.id, id))
      const set = await setServers(tx, id, form.servers)
      if (!set.ok) return set
      const after = await presentOne(tx, { ...row, name, description })
      const entry = { action: 'edit server group', targetType: 'server group', targetId: id, before, after }
      await record(tx, actor, entry)
      return ok(after)
    })
  )
}

/** Removes a group that no variant sells from; orders that were delivered from it keep their addresses. */
export async function deleteGroup(
  ctx: Pick<AppContext, 'db' | 'now'>,
  actor: Actor,
  id: number
): Promise<Result<null>> {
  return transact(ctx.db, async tx => {
    const row = await lockGroup(tx, id)
    if (!row) return refuse('not_found')
    const selling = await tx
      .select({ name: variants.name })
      .from(variants)
      .where(and(eq(variants.serverGroupId, id), isNull(variants.deletedAt)))
      .orderBy(asc(variants.id))
      .limit(5)
    if (selling.length > 0) {
      const names = selling.map(variant => variant.name).join(', ')
      return refuse('in_use', { msg: `Variants still sell from this server group: ${names}` })
    }
    const before = await presentOne(tx, row)
    await tx.update(serverGroups).set({ deletedAt: ctx.now() }).where(eq(serverGroups.id, id))
    const entry = { action: 'delete server group', targetType: 'server group', targetId: id, before }
    await record(tx, actor, entry)
    return done
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
  if (known.length < wanted.length) {
    const msg = 'One of the selected servers does not exist any more'
    return refuse('invalid', { msg, data: { errors: { servers: msg } } })
  }
  await tx.delete(serverGroupServers).where(eq(serverGroupServers.groupId, groupId))
  await tx.insert(serverGroupServers).values(wanted.map(serverId => ({ groupId, serverId })))
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
  return rows.map(({ id, name, description }) => ({
    id,
    name,
    description,
    servers: (byGroup.get(id) ?? []).map(server => ({ id: server.id, name: server.name }))
  }))
}
