import { refuse, type BulkRun, type CreditPreview } from '@netlet/contract'
import { and, asc, eq, gt, inArray, notExists, sql, type SQL } from 'drizzle-orm'
import type { UserActor } from '../../../infra/actor.ts'
import { iso } from '../../../infra/clock.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { done, ok, type Result } from '../../../infra/result.ts'
import { startRunIn, type RunInput } from '../../bulk/index.ts'
import { findOutage, type Outage } from '../../fleet/index.ts'
import { enqueueMail } from '../../mail/index.ts'
import { creditTime, isServed, lockOrder, orderLabels, SERVED_STATES, orderMail } from '../../orders/index.ts'
import { serverOutages } from '../../fleet/tables.ts'
import { orders } from '../../orders/tables.ts'
import { outageCredits, proxies } from '../tables.ts'
import { serverNames } from './replace.ts'

type Ended = Outage & { endedAt: Date }

/** How many orders an outage would be credited to now. */
export async function previewCredit(db: Executor, outageId: number, now: Date): Promise<Result<CreditPreview>> {
  const outage = await endedOutage(db, outageId)
  if (!outage.ok) return outage
  const ids = await creditable(db, outage.data, now)
  const [customers] =
    ids.length === 0
      ? []
      : await db
          .select({ count: sql<number>`count(distinct ${orders.userId})::int` })
          .from(orders)
          .where(inArray(orders.id, ids))
  return ok({
    orders: ids.length,
    customers: customers?.count ?? 0,
    credited: await db.$count(outageCredits, eq(outageCredits.outageId, outageId)),
    seconds: Math.round((outage.data.endedAt.getTime() - outage.data.startedAt.getTime()) / 1000)
  })
}

/** Gives the time of an outage back to all orders that had live addresses there, as a run; null where there are none. */
export const creditOutage = (ctx: AppContext, by: UserActor, outageId: number): Promise<Result<BulkRun | null>> =>
  command(ctx, by, async unit => {
    const outage = await endedOutage(unit.tx, outageId)
    if (!outage.ok) return outage
    const ids = await creditable(unit.tx, outage.data, unit.now)
    if (ids.length === 0) return ok(null)
    unit.audit('server.credit_outage', outage.data.serverId, { after: { outage: outageId, orders: ids.length } })
    const input = { outage_id: outageId }
    return ok(await startRunIn(unit, by, { action: 'order.credit_outage', ids, labels: orderLabels, input }))
  })

/**
 * Credits one order, once for the outage: the time for which it had working addresses on the server meanwhile. One that
 * expired before, or got its addresses there only later, lost nothing.
 */
export async function creditOrder(unit: Unit, orderId: number, input: RunInput): Promise<Result<null>> {
  const { tx, now } = unit
  const order = await lockOrder(unit, orderId)
  if (!order) return refuse('not_found')
  const outage = await endedOutage(tx, input['outage_id'] ?? 0)
  if (!outage.ok) return outage
  if (!isServed(order.state) || !order.expiredAt || order.expiredAt <= now) return refuse('nothing_to_credit')
  const { id: outageId, serverId, startedAt, endedAt } = outage.data
  const [lost] = await tx
    .select({ seconds: sql<number>`coalesce(floor(max(extract(epoch from ${lostBy(outage.data)}))), 0)::int` })
    .from(proxies)
    .where(and(eq(proxies.orderId, orderId), eq(proxies.serverId, serverId), wasLiveIn(outage.data)))
  const seconds = (lost?.seconds ?? 0) - (await creditedMeanwhile(tx, orderId, outage.data))
  if (seconds <= 0) return refuse('nothing_to_credit')
  const credited = await tx
    .insert(outageCredits)
    .values({ outageId, orderId, seconds })
    .onConflictDoNothing()
    .returning()
  if (credited.length === 0) return done
  const server = (await serverNames(tx, [serverId])).get(serverId)
  const expiredAt = await creditTime(unit, order, { seconds, outage: outageId, server })
  unit.audit('order.credit', orderId, {
    before: { expired_at: iso(order.expiredAt) },
    after: { expired_at: iso(expiredAt), outage: outageId }
  })
  const mail = await orderMail(tx, orderId)
  if (!mail) return done
  enqueueMail(unit, {
    ...mail,
    template: 'outage-credited',
    data: {
      ...mail.data,
      from: iso(startedAt),
      to: iso(endedAt),
      minutes: Math.ceil(seconds / 60),
      expires_at: iso(expiredAt)
    },
    key: `credited:${outageId}:${orderId}`
  })
  return done
}

/**
 * Seconds of an outage that were outages of an order's other servers too, and credited for these: the same time is
 * credited once.
 */
async function creditedMeanwhile(db: Executor, orderId: number, { id, startedAt, endedAt }: Ended): Promise<number> {
  const { rows } = await db.execute<{ seconds: number }>(sql`
    select coalesce(sum(extract(epoch from upper(part) - lower(part))), 0)::int as seconds
    from unnest((
      select range_agg(tstzrange(o.started_at, o.ended_at)) from ${outageCredits} c
        join ${serverOutages} o on o.id = c.outage_id where c.order_id = ${orderId} and c.outage_id <> ${id}
    ) * tstzmultirange(tstzrange(${iso(startedAt)}::timestamptz, ${iso(endedAt)}::timestamptz))) as part`)
  return rows[0]?.seconds ?? 0
}

async function endedOutage(db: Executor, id: number): Promise<Result<Ended>> {
  const outage = await findOutage(db, id)
  if (!outage) return refuse('not_found')
  const { endedAt } = outage
  return endedAt ? ok({ ...outage, endedAt }) : refuse('outage_lasts')
}

/** The time of the outage in which a proxy was its customer's. */
const lostBy = ({ startedAt, endedAt }: Ended): SQL =>
  sql`least(${iso(endedAt)}::timestamptz, case when ${proxies.state} = 'retired' then ${proxies.updatedAt} end)
    - greatest(${iso(startedAt)}::timestamptz, ${proxies.liveAt})`

const wasLiveIn = ({ startedAt, endedAt }: Ended): SQL =>
  sql`${proxies.liveAt} < ${iso(endedAt)}::timestamptz
    and (${proxies.state} <> 'retired' or ${proxies.updatedAt} > ${iso(startedAt)}::timestamptz)`

async function creditable(db: Executor, outage: Ended, now: Date): Promise<number[]> {
  const before = db
    .select({ one: sql`1` })
    .from(outageCredits)
    .where(and(eq(outageCredits.outageId, outage.id), eq(outageCredits.orderId, orders.id)))
  const rows = await db
    .selectDistinct({ id: orders.id })
    .from(proxies)
    .innerJoin(orders, eq(orders.id, proxies.orderId))
    .where(
      and(
        eq(proxies.serverId, outage.serverId),
        wasLiveIn(outage),
        inArray(orders.state, [...SERVED_STATES]),
        gt(orders.expiredAt, now),
        notExists(before)
      )
    )
    .orderBy(asc(orders.id))
  return rows.map(({ id }) => id)
}
