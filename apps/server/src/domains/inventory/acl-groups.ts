import { type AclGroup, type AclGroupForm, type Params, type Refusal, refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor, Transaction } from '../../infra/db/client.ts'
import { and, asc, eq, ilike, inArray, isNull, or } from '../../infra/db/drizzle.ts'
import { containing } from '../../infra/db/like.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { type Edit, staleEdit, versionOf } from '../../infra/version.ts'
import { aclGroupRules, aclGroups, aclRules } from './tables.ts'

type GroupRow = typeof aclGroups.$inferSelect

/** Groups of access rules, oldest first; search finds name or description. */
export const aclGroupList = defineList<ListInput<'id'>, AclGroup>({
  name: 'acl_groups',
  table: aclGroups,
  id: aclGroups.id,
  sort: { id: aclGroups.id },
  match(_db, { search }) {
    const pattern = search && containing(search)
    return { where: [pattern ? or(ilike(aclGroups.name, pattern), ilike(aclGroups.description, pattern)) : undefined] }
  },
  load: async (db, ids) => present(db, await db.select().from(aclGroups).where(among(aclGroups.id, ids)))
})

/** Ids of a group's rules on sale, ascending; undefined if there is no such group. */
export async function groupRules(db: Executor, groupId: number): Promise<number[] | undefined> {
  const [row] = await db.select().from(aclGroups).where(eq(aclGroups.id, groupId))
  if (!row) return undefined
  const [group] = await present(db, [row])
  return group?.acls.map(acl => acl.id)
}

export const createAclGroup = (ctx: AppContext, by: Actor, form: AclGroupForm): Promise<Result<AclGroup>> =>
  command(ctx, by, { unique: { acl_groups_name_key: 'name_taken' } }, async unit => {
    const { name, description } = form
    const [row] = await unit.tx.insert(aclGroups).values({ name, description, createdAt: unit.now }).returning()
    if (!row) throw new Error('the group was not created')
    const set = await setRules(unit.tx, row.id, form.acls)
    if (!set.ok) return set
    const after = await presentOne(unit.tx, row)
    unit.audit('acl_group.create', row.id, { after })
    return ok(after)
  })

export const updateAclGroup = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<AclGroupForm>
): Promise<Result<AclGroup>> =>
  command(ctx, by, { unique: { acl_groups_name_key: 'name_taken' } }, async unit => {
    const [row] = await unit.tx.select().from(aclGroups).where(eq(aclGroups.id, id)).for('update')
    if (!row) return refuse('not_found')
    const before = await presentOne(unit.tx, row)
    const stale = staleEdit(version, before, {
      now: fieldsOf(before, idsOf(before.acls)),
      sent: fieldsOf(form, form.acls)
    })
    if (stale) return stale
    const { name, description } = form
    await unit.tx.update(aclGroups).set({ name, description }).where(eq(aclGroups.id, id))
    const set = await setRules(unit.tx, id, form.acls)
    if (!set.ok) return set
    const after = await presentOne(unit.tx, { ...row, name, description })
    unit.audit('acl_group.edit', id, { before, after })
    return ok(after)
  })

/** Removes a group. Users that were made with it keep their rules. */
export const deleteAclGroup = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const [row] = await unit.tx.select().from(aclGroups).where(eq(aclGroups.id, id)).for('update')
    if (!row) return refuse('not_found')
    const before = await presentOne(unit.tx, row)
    await unit.tx.delete(aclGroups).where(eq(aclGroups.id, id))
    unit.audit('acl_group.delete', id, { before })
    return done
  })

async function setRules(tx: Transaction, groupId: number, ids: number[]): Promise<Result<null>> {
  const wanted = [...new Set(ids)]
  const known = await tx
    .select({ id: aclRules.id })
    .from(aclRules)
    .where(and(inArray(aclRules.id, wanted), isNull(aclRules.deletedAt)))
  if (known.length < wanted.length) return fieldRefusal('acls', 'choice_gone')
  await tx.delete(aclGroupRules).where(eq(aclGroupRules.groupId, groupId))
  await tx.insert(aclGroupRules).values(wanted.map(ruleId => ({ groupId, ruleId })))
  return done
}

async function presentOne(db: Executor, row: GroupRow): Promise<AclGroup> {
  const [group] = await present(db, [row])
  if (!group) throw new Error('one row makes one group')
  return group
}

async function present(db: Executor, rows: GroupRow[]): Promise<AclGroup[]> {
  if (rows.length === 0) return []
  const members = await db
    .select({ groupId: aclGroupRules.groupId, id: aclRules.id, name: aclRules.name })
    .from(aclGroupRules)
    .innerJoin(aclRules, eq(aclRules.id, aclGroupRules.ruleId))
    .where(
      and(
        inArray(
          aclGroupRules.groupId,
          rows.map(row => row.id)
        ),
        isNull(aclRules.deletedAt)
      )
    )
    .orderBy(asc(aclRules.id))
  const byGroup = Map.groupBy(members, member => member.groupId)
  return rows.map(({ id, name, description }) => {
    const acls = (byGroup.get(id) ?? []).map(acl => ({ id: acl.id, name: acl.name }))
    const version = versionOf(fieldsOf({ name, description }, idsOf(acls)))
    return { id, name, description, acls, version }
  })
}

const idsOf = (rows: readonly { id: number }[]) => rows.map(row => row.id)

/** What the form of a group shows; rules by id. */
const fieldsOf = ({ name, description }: Pick<AclGroup, 'name' | 'description'>, ruleIds: readonly number[]) => ({
  name,
  description,
  acls: ruleIds.toSorted((a, b) => a - b)
})

/** Orders named in a sentence; the others are only counted. */
const NAMED = 10

/** The first of `count` names: 'a, b, …'. */
const listed = (names: string[], count: number): string => names.join(', ') + (count > names.length ? ', …' : '')

/**
 * Refuses because orders still hold addresses: of a range (`cidr`), of a server, or under a rule.
 * @param orderIds at least one
 */
export function leasedBy(what: 'cidr' | 'server' | 'rule', orderIds: number[], params: Params = {}): Refusal {
  const orders = listed(
    orderIds.slice(0, NAMED).map(id => `#${id}`),
    orderIds.length
  )
  const data = { ...params, orders: orderIds }
  return refuse(`${what}_leased`, { params: { ...params, count: orderIds.length, orders }, data })
}
