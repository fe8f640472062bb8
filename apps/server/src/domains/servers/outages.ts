import { refuse, type Outage as ShownOutage, type OutageForm } from '@netlet/contract'
import { and, eq, gt, isNull, lt, lte, or, sql } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { DAY, iso, isoOrNull } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { lockServer } from './server-row.ts'
import { serverOutages, servers } from './tables.ts'

export type Outage = typeof serverOutages.$inferSelect

export const outageList = (serverId: number) =>
  defineList<ListInput<'id'>, ShownOutage>({
    name: `outages_of_server_${serverId}`,
    table: serverOutages,
    id: serverOutages.id,
    sort: { id: serverOutages.id },
    match: () => ({ where: [eq(serverOutages.serverId, serverId)] }),
    load: async (db, ids) =>
      (await db.select().from(serverOutages).where(among(serverOutages.id, ids))).map(presentOutage)
  })

export async function findOutage(db: Executor, id: number): Promise<Outage | undefined> {
  const [outage] = await db.select().from(serverOutages).where(eq(serverOutages.id, id))
  return outage
}

/** An earlier start is probably a typing error: no plan is sold for longer than this. */
const MOST_DAYS = 366

/** Adds an outage that the health checks did not see: the agent answered, but the server served no customer. */
export const addOutage = (
  ctx: AppContext,
  by: Actor,
  serverId: number,
  form: OutageForm
): Promise<Result<ShownOutage>> =>
  command(ctx, by, async unit => {
    const [startedAt, endedAt] = [new Date(form.started_at), new Date(form.ended_at)]
    // The lock lets two outages that are added at once see each other. An overlap would be credited twice.
    const server = await lockServer(unit, serverId)
    if (!server) return refuse('not_found')
    const earliest = unit.now.getTime() - MOST_DAYS * DAY
    const begins = startedAt.getTime() >= earliest && startedAt >= server.createdAt
    if (!begins || endedAt <= startedAt || endedAt > unit.now)
      return refuse('outage_times', { params: { days: MOST_DAYS, added: iso(server.createdAt) } })
    const [other] = await unit.tx
      .select()
      .from(serverOutages)
      .where(
        and(
          eq(serverOutages.serverId, serverId),
          lt(serverOutages.startedAt, endedAt),
          or(isNull(serverOutages.endedAt), gt(serverOutages.endedAt, startedAt))
        )
      )
      .limit(1)
    if (other) {
      const to = other.endedAt ? iso(other.endedAt) : '–'
      return refuse('outage_overlaps', { params: { from: iso(other.startedAt), to } })
    }
    const [added] = await unit.tx
      .insert(serverOutages)
      .values({ serverId, startedAt, endedAt, byHand: true, createdAt: unit.now })
      .returning()
    if (!added) throw new Error('the outage was not added')
    const after = presentOutage(added)
    unit.audit('server.add_outage', serverId, { after })
    return ok(after)
  })

/** Deletes an outage added by hand. The caller holds `lockOutage` and knows that it credited no customer. */
export async function removeOutage(unit: Unit, outage: Outage): Promise<void> {
  await unit.tx.delete(serverOutages).where(eq(serverOutages.id, outage.id))
  unit.audit('server.remove_outage', outage.serverId, { before: presentOutage(outage) })
}

/** Until the transaction ends, no other one can credit the outage (`update`) or delete it (`key share`). */
export async function lockOutage(
  { tx }: Unit,
  id: number,
  strength: 'update' | 'key share'
): Promise<Outage | undefined> {
  const [outage] = await tx.select().from(serverOutages).where(eq(serverOutages.id, id)).for(strength)
  return outage
}

/** Opens an outage after a health check without an answer, unless one is open. */
export async function openOutage({ tx, now }: Unit, serverId: number, startedAt: Date): Promise<void> {
  // An outage that ended when its server was given up stays over. No moment is in two outages.
  const since = sql<Date>`greatest(${startedAt.toISOString()}::timestamptz,
    (select max(ended_at) from server_outages where server_id = ${serverId}))`
  await tx.insert(serverOutages).values({ serverId, startedAt: since, createdAt: now }).onConflictDoNothing()
}

/** Closes the outage: the server answers again, or was given up. */
export async function closeOutage({ tx, now }: Unit, serverId: number): Promise<void> {
  const open = and(eq(serverOutages.serverId, serverId), isNull(serverOutages.endedAt))
  await tx
    .update(serverOutages)
    .set({
      endedAt: sql`greatest(${now.toISOString()}::timestamptz, ${serverOutages.startedAt} + interval '1 millisecond')`
    })
    .where(open)
}

/**
 * Takes an outage that customers do not know of, if its server is out of stock and has been silent since before
 * `deadline`. A missed health check alone is no outage, even if the server is out of stock for another reason.
 */
export async function claimUnannounced({ tx, now }: Unit, deadline: Date): Promise<Outage | undefined> {
  const [found] = await tx
    .select({ outage: serverOutages })
    .from(serverOutages)
    .innerJoin(
      servers,
      and(
        eq(servers.id, serverOutages.serverId),
        eq(servers.offline, true),
        lte(servers.unreachableSince, deadline),
        isNull(servers.deletedAt)
      )
    )
    .where(and(isNull(serverOutages.endedAt), isNull(serverOutages.announcedAt)))
    .limit(1)
    .for('update', { of: serverOutages, skipLocked: true })
  if (!found) return undefined
  await tx.update(serverOutages).set({ announcedAt: now }).where(eq(serverOutages.id, found.outage.id))
  return found.outage
}

const presentOutage = (outage: Outage): ShownOutage => ({
  id: outage.id,
  server_id: outage.serverId,
  started_at: iso(outage.startedAt),
  ended_at: isoOrNull(outage.endedAt),
  by_hand: outage.byHand
})
