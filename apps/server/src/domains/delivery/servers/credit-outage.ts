import { type BulkRun, type CreditPreview, type CustomerNote, refuse } from '@netlet/contract'
import { and, eq, inArray } from '../../../infra/db/drizzle.ts'
import type { Actor, UserActor } from '../../../infra/actor.ts'
import { iso } from '../../../infra/clock.ts'
import { type Unit, command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { type Result, done, ok } from '../../../infra/result.ts'
import { users } from '../../accounts/tables.ts'
import { noteInput, startRunIn, unendedRun } from '../../bulk/index.ts'
import { type Outage, findOutage, lockOutage, removeOutage } from '../../servers/index.ts'
import { announce, creditTime, creditUnserved, lockOrder, noteDetail, orderLabels } from '../../orders/index.ts'
import { incidentsOfOutages, linkIncidentIn } from '../../status/index.ts'
import { advance } from '../advance.ts'
import { restoreAddresses, reviveDelivery } from '../revive.ts'
import { outageCredits } from '../tables.ts'
import { announceMove, noteOfRun, type Run } from './move-off-server.ts'
import { creditedAfterEnd, ordersAffectedBy, type EndedOutage } from './lost-time.ts'
import { serverNames } from './replace.ts'

/** Deletes an outage that was added by mistake, unless an order was credited. What health checks saw stays. */
export const removeUncredited = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const outage = await lockOutage(unit, id, 'update')
    if (!outage) return refuse('not_found')
    if (!outage.byHand) return refuse('outage_recorded')
    const count = await unit.tx.$count(outageCredits, eq(outageCredits.outageId, id))
    if (count > 0) return refuse('outage_credited', { params: { count } })
    const run = await unendedRun(unit.tx, { action: 'order.credit_outage', input: { outage_id: id } })
    if (run !== undefined) return refuse('outage_being_credited', { params: { run } })
    await removeOutage(unit, outage)
    return done
  })

/** How many orders that have ended since are listed. */
const LISTED = 500

/** Which orders an outage would be credited to now, and which have ended since, for an operator to decide. */
export async function previewCredit(db: Executor, outageId: number, now: Date): Promise<Result<CreditPreview>> {
  const outage = await endedOutage(db, outageId)
  if (!outage.ok) return outage
  const affected = await ordersAffectedBy(db, outage.data, now)
  const served = affected.filter(({ phase }) => phase !== 'ended')
  const ended = [
    ...affected.filter(({ phase }) => phase === 'ended').map(order => ({ ...order, credited: false })),
    ...(await creditedAfterEnd(db, outageId)).map(order => ({ ...order, credited: true }))
  ]
  const buyers = await db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(inArray(users.id, [...new Set(ended.slice(0, LISTED).map(({ userId }) => userId))]))
  const emailOf = new Map(buyers.map(({ id, email }) => [id, email]))
  const lost = served.map(({ seconds }) => seconds)
  return ok({
    orders: served.length,
    lost: {
      least: lost.reduce((least, seconds) => Math.min(least, seconds), lost[0] ?? 0),
      most: lost.reduce((most, seconds) => Math.max(most, seconds), 0),
      total: lost.reduce((sum, seconds) => sum + seconds, 0)
    },
    // One to each customer whose orders are served again. Customers of orders that stay over get none.
    mails: new Set(served.map(({ userId }) => userId)).size,
    customers: new Set(served.map(({ userId }) => userId)).size,
    revived: served.filter(({ phase }) => phase === 'grace').length,
    ended: ended.length,
    ended_meanwhile: ended.slice(0, LISTED).map(({ id, publicId, userId, seconds, credited }) => ({
      id,
      order_id: publicId,
      email: emailOf.get(userId) ?? '',
      seconds,
      credited
    })),
    credited: await db.$count(outageCredits, eq(outageCredits.outageId, outageId)),
    seconds: Math.round((outage.data.endedAt.getTime() - outage.data.startedAt.getTime()) / 1000)
  })
}

/**
 * Credits the time of an outage to all orders that lost some, as a run; null if there are none.
 * @param form `incident_id`: the incident that customers are shown; by default the one that the outage has already
 */
export const creditOutage = (
  ctx: AppContext,
  by: UserActor,
  outageId: number,
  { incident_id: incidentId, ...note }: Partial<CustomerNote> & { incident_id?: number | undefined } = {}
): Promise<Result<BulkRun | null>> =>
  command(ctx, by, async unit => {
    const named = incidentId === undefined ? done : await linkIncidentIn(unit, outageId, incidentId)
    if (!named.ok) return named
    // It cannot be deleted before its run exists.
    const outage = ended(await lockOutage(unit, outageId, 'key share'))
    if (!outage.ok) return outage
    const ids = (await ordersAffectedBy(unit.tx, outage.data, unit.now)).map(({ id }) => id)
    if (ids.length === 0) return ok(null)
    unit.audit('server.credit_outage', outage.data.serverId, { after: { outage: outageId, orders: ids.length } })
    const input = { outage_id: outageId, ...noteInput(note) }
    return ok(await startRunIn(unit, by, { action: 'order.credit_outage', ids, labels: orderLabels, input }))
  })

/**
 * Credits one order, once for the outage, with the time that it lost (`ordersAffectedBy`). An order in its grace is
 * revived on the same addresses for that time from now. An order whose addresses are gone keeps it as time that was not
 * served: an operator may reopen or refund it.
 */
export async function creditOrder(unit: Unit, orderId: number, run: Run): Promise<Result<null>> {
  const { tx, now } = unit
  const note = noteOfRun(run)
  const order = await lockOrder(unit, orderId)
  if (!order) return refuse('not_found')
  const outage = ended(await lockOutage(unit, run.input.outage_id ?? 0, 'key share'))
  if (!outage.ok) return outage
  const { id: outageId, serverId, startedAt, endedAt } = outage.data
  const known = and(eq(outageCredits.outageId, outageId), eq(outageCredits.orderId, orderId))
  if ((await tx.$count(outageCredits, known)) > 0) return done
  const [affected] = await ordersAffectedBy(tx, outage.data, now, orderId)
  if (!affected || !order.expiredAt) return refuse('nothing_to_credit')
  const { seconds, phase } = affected
  await tx.insert(outageCredits).values({ outageId, orderId, seconds, createdAt: now })
  const changed = phase === 'grace' ? await restoreAddresses(unit, order) : null
  const revived = changed !== null
  if (revived) await reviveDelivery(unit, order)
  if (changed) await announceMove(unit, orderId, changed, note)
  const goesOn = new Date(Math.max(order.expiredAt.getTime(), now.getTime()))
  const isServed = phase === 'running' || revived
  const server = (await serverNames(tx, [serverId])).get(serverId)
  const credited = { seconds, outage: outageId, server, ...noteDetail(note) }
  // A revived order goes on from now. One that stays over has this time left after its end.
  const expiredAt = isServed
    ? await creditTime(unit, { ...order, expiredAt: goesOn }, credited)
    : await creditUnserved(unit, order, credited)
  unit.audit('order.credit', orderId, {
    before: { expired_at: iso(order.expiredAt) },
    after: { expired_at: iso(expiredAt), outage: outageId, ...noteDetail(note) }
  })
  if (revived) await advance(unit, [orderId])
  if (!isServed || note.email_customer === false) return done
  const data = {
    from: iso(startedAt),
    to: iso(endedAt),
    minutes: Math.ceil(seconds / 60),
    expires_at: iso(expiredAt),
    incident: (await incidentsOfOutages(tx, [outageId])).get(outageId) ?? null
  }
  const key = `credited:${outageId}:${orderId}`
  await announce(unit, orderId, { template: 'outage-credited', data, key }, note)
  return done
}

const endedOutage = async (db: Executor, id: number): Promise<Result<EndedOutage>> => ended(await findOutage(db, id))

function ended(outage: Outage | undefined): Result<EndedOutage> {
  if (!outage) return refuse('not_found')
  const { endedAt } = outage
  return endedAt ? ok({ ...outage, endedAt }) : refuse('outage_lasts')
}
