import { ATTENTION, type EventOutcome, type InboxDetail, type InboxEntry, refuse } from '@netlet/contract'
import { DAY, HOUR, iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, asc, eq, gt, inArray, isNull, lt, or, sql } from '../../infra/db/drizzle.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, ok } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import { PaidOrder } from '../../integrations/shopify/index.ts'
import { users } from '../accounts/tables.ts'
import { attentionSentence, isLate } from '../commerce/index.ts'
import { isAboutMoney, platformEvents } from '../commerce/tables.ts'
import { SERVED_STATES, ourVariants, renewable, currentTermsOf } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { ENDED_BY_DELIVERY, compareLines, missing, paymentStateOf } from '../payments/index.ts'
import { lineOf } from './settle-paid-order.ts'
import { paymentRefunds, payments } from '../payments/tables.ts'

type Query = ListInput<'id'> & {
  outcome?: EventOutcome | undefined
  unresolved?: '1' | '0' | undefined
  late?: '1' | undefined
}

/** Outcomes that stay open after the whole payment is refunded. */
const AFTER_REFUND = ['dispute_won', 'renewals_unserved', 'refund_doubtful', 'refunded_twice']
/** Outcomes of a payment that matched no unpaid order. They close once the payment counts. */
const FOR_NO_ORDER = ['unknown_order', 'paid_twice']

const listOf = (words: readonly string[]) => sql.raw(words.map(word => `'${word}'`).join(', '))

/** Must equal the condition of the index `platform_events_open`, or PostgreSQL does not use it. */
const withoutResolution = sql`${platformEvents.needsResolution} and ${platformEvents.resolution} is null`

/**
 * The refund that failed, or had no result, was made after all, for at least the same amount. Its other part, which was
 * pending when this one failed, does not count. A second failure is an event of its own.
 */
const isMadeAfterAll: SQL = sql`(case when ${platformEvents.outcome} in ('refund_failed', 'refund_stuck') then coalesce((
  select sum(f.amount) from ${paymentRefunds} f
  where f.platform_order_id = ${platformEvents.platformOrderId} and f.state in ('counted', 'returned') and f.created_at >= ${platformEvents.processedAt}
    and (f.key = ${platformEvents.payload} ->> 'key' or starts_with(f.key, ${platformEvents.payload} ->> 'key' || ':'))
    and (${platformEvents.outcome} = 'refund_stuck' or f.key <> ${platformEvents.payload} ->> 'key' || ':pending')
  ) >= (${platformEvents.detail} ->> 'amount')::numeric, false) else false end)`

/** The money that this dispute took came back after the event. Its win is an event of its own. */
const isWonBack: SQL = sql`(${platformEvents.outcome} = 'inquiry' and exists (
  select 1 from ${paymentRefunds} f
  where f.platform_order_id = ${platformEvents.platformOrderId} and f.state = 'returned'
    and f.reversed_at > ${platformEvents.processedAt} and f.amount is distinct from 0
    and (f.key = 'dispute:' || (${platformEvents.payload} ->> 'id')
      or starts_with(f.key, 'dispute:' || (${platformEvents.payload} ->> 'id') || ':'))))`

/**
 * On a row of `payments`: no more than it brought counts as given back. Each conversion may have added a cent. A refund
 * that an operator marked counts once, even if the platform made it too.
 */
const isBackOnce: SQL = sql`(
  select coalesce(sum(coalesce(f.amount, p.charged)) - 0.01 * count(*), 0) <= p.charged
    and not coalesce(bool_or(f.key like 'refund:%:operator:%'), false) from ${paymentRefunds} f
  where f.platform_order_id = p.platform_order_id and f.state = 'counted' and not starts_with(f.key, 'reported:'))`

/** On a row of `payments`: a part of it went back after the event. */
const isPartBack: SQL = sql`exists (
  select 1 from ${paymentRefunds} f
  where f.platform_order_id = p.platform_order_id and f.state = 'counted' and f.created_at >= ${platformEvents.processedAt})`

/** Some of the part went back that the platform received. No payment is recorded of it. */
const isPartReturned: SQL = sql`(${platformEvents.outcome} = 'part_paid' and exists (
  select 1 from ${paymentRefunds} f
  where f.platform_order_id = ${platformEvents.platformOrderId} and f.state = 'counted'
    and f.created_at >= ${platformEvents.processedAt}))`

/**
 * Does an event still wait for an administrator? It is derived from the current rows, so no other command has to close
 * it. It is closed if an administrator resolved it, its money went back, its failed or stuck refund was made, its dispute was
 * won, its order was delivered or goes on after a won dispute, or its payment counts now. A part of the money is closed
 * by the payment of the rest, which has an event of its own.
 */
export const isUnresolved: SQL = sql`(${withoutResolution} and not exists (
  select 1 from ${payments} p left join ${orders} o on o.id = p.order_id
  where p.platform_order_id = ${platformEvents.platformOrderId} and (
    p.refunded_at is not null and ${platformEvents.outcome} not in (${listOf(AFTER_REFUND)})
    or p.refunded_at > ${platformEvents.processedAt}
    or p.accepted and ${platformEvents.outcome} in (${listOf(FOR_NO_ORDER)})
    or ${platformEvents.outcome} = 'part_paid'
    or ${platformEvents.outcome} = 'lines_more' and ${isPartBack}
    or ${platformEvents.outcome} = 'refunded_twice' and ${isBackOnce}
    or p.accepted and o.state not in ('expired', 'failed') and ${platformEvents.outcome} = 'dispute_won'
    or p.accepted and o.state not in ('expired', 'failed', 'refunded') and ${platformEvents.outcome} = 'refund_failed'
      and ${platformEvents.detail} ->> 'lease' = 'ended'
    or ${platformEvents.outcome} = 'renewals_unserved' and (o.state <> 'refunded' or p.kind = 'purchase' and not exists (
      select 1 from ${payments} r
      where r.order_id = p.order_id and r.kind = 'renewal' and r.accepted and r.refunded_at is null))
    or p.accepted and o.state <> 'failed' and ${platformEvents.outcome} in (${listOf(ENDED_BY_DELIVERY)})))
  and not ${isMadeAfterAll} and not ${isWonBack} and not ${isPartReturned})`

/** On a row of `orders`: does an event about its money, by its number or its payments, wait for an administrator? */
export const hasOpenMoney: SQL = sql`exists (
  select 1 from ${platformEvents}
  where (${platformEvents.orderPublicId} = ${orders.publicId} or ${platformEvents.platformOrderId} = any(array(
      select m.platform_order_id from ${payments} m where m.order_id = ${orders.id})))
    and ${isUnresolved})`

export const countUnresolvedEvents = (db: Executor): Promise<number> => db.$count(platformEvents, isUnresolved)

/** Money events, newest first, found by our order number or the platform's. With `late`: late events of any topic. */
export const inboxList = ({ now }: { now: Date }) =>
  defineList<Query, InboxEntry>({
    name: 'payments',
    table: platformEvents,
    id: platformEvents.id,
    sort: { id: platformEvents.id },
    match: (_db, { search, outcome, unresolved, late }) => ({
      where: [
        late === undefined ? isAboutMoney(platformEvents.topic) : isLate(now),
        outcome === undefined ? undefined : eq(platformEvents.outcome, outcome),
        unresolved === undefined ? undefined : unresolved === '1' ? isUnresolved : sql`not ${isUnresolved}`
      ],
      ...(search === undefined
        ? {}
        : {
            anyOf: [
              { column: platformEvents.orderPublicId, among: [search] },
              { column: platformEvents.platformOrderId, among: [search] },
              { column: platformEvents.platformOrderName, among: [search, `#${search}`] }
            ]
          })
    }),
    load: async (db, ids) => (await select(db).where(among(platformEvents.id, ids))).map(present)
  })

const select = (db: Executor) =>
  db
    .select({
      event: {
        id: platformEvents.id,
        topic: platformEvents.topic,
        receivedAt: platformEvents.receivedAt,
        outcome: platformEvents.outcome,
        detail: platformEvents.detail,
        platformOrderId: platformEvents.platformOrderId,
        platformOrderName: platformEvents.platformOrderName,
        orderPublicId: platformEvents.orderPublicId,
        resolution: platformEvents.resolution,
        resolutionNote: platformEvents.resolutionNote,
        resolvedBy: platformEvents.resolvedBy,
        resolvedAt: platformEvents.resolvedAt,
        processedAt: platformEvents.processedAt,
        waitsFor: platformEvents.waitsFor
      },
      open: sql<boolean>`${isUnresolved}`,
      payment: payments,
      orderId: orders.id,
      username: users.username
    })
    .from(platformEvents)
    .leftJoin(payments, eq(payments.platformOrderId, platformEvents.platformOrderId))
    .leftJoin(orders, eq(orders.publicId, platformEvents.orderPublicId))
    .leftJoin(users, eq(users.id, orders.userId))
    .$dynamic()

type Row = Awaited<ReturnType<typeof select>>[number]

function present({ event, open, payment, orderId, username }: Row): InboxEntry {
  const { outcome, detail } = event
  const shown = {
    outcome,
    unresolved: open,
    payment: payment && paymentStateOf(payment),
    resolution: event.resolution,
    order: event.orderPublicId,
    refunded: payment?.refundedAmount ?? null
  }
  return {
    id: event.id,
    received_at: iso(event.receivedAt),
    topic: event.topic,
    ...shown,
    summary: outcome && outcome in ATTENTION ? attentionSentence({ outcome, ...(detail ? { detail } : {}) }) : null,
    waits_for: event.processedAt ? null : event.waitsFor,
    params: { ...detail },
    platform_order: event.platformOrderName,
    platform_order_id: event.platformOrderId,
    order_id: orderId,
    username,
    kind: payment?.kind ?? null,
    charged: payment?.charged ?? null,
    currency: payment?.currency ?? null,
    resolution_note: event.resolutionNote,
    resolved_by: event.resolvedBy,
    resolved_at: isoOrNull(event.resolvedAt),
    version: versionOf(shown)
  }
}

/** A money event as the inbox lists it. Only these can be decided. */
export const findEntry = (db: Executor, id: number): Promise<InboxEntry | undefined> =>
  readEntry(db, id, isAboutMoney(platformEvents.topic))

async function readEntry(db: Executor, id: number, which: SQL | undefined): Promise<InboxEntry | undefined> {
  const [row] = await select(db).where(and(eq(platformEvents.id, id), which))
  return row && present(row)
}

/** A money event, or an unprocessed one of any topic, with the platform order's lines beside those that ours needs. */
export async function findEntryDetail(db: Executor, id: number): Promise<Result<InboxDetail>> {
  const entry = await readEntry(db, id, or(isAboutMoney(platformEvents.topic), isNull(platformEvents.processedAt)))
  if (!entry) return refuse('not_found')
  const [event] = await db
    .select({ payload: platformEvents.payload })
    .from(platformEvents)
    .where(eq(platformEvents.id, id))
  const paid = entry.topic === 'orders/paid' ? PaidOrder.safeParse(event?.payload) : undefined
  const [order] = entry.order_id
    ? await db.select({ lines: orders.lines }).from(orders).where(eq(orders.id, entry.order_id))
    : []
  const items = paid?.success ? paid.data.line_items : []
  return ok({
    entry,
    email: paid?.success ? (paid.data.email ?? null) : null,
    lines: items.map(item => ({ ...lineOf(item), variant: item.variant_id ?? '' })),
    needed: paid?.success && order ? compareLines(order.lines, paid.data) : [],
    proposed:
      paid?.success && entry.outcome === 'unknown_order' && entry.unresolved ? await proposedFor(db, paid.data) : null
  })
}

/** A payment may be for an order that was placed at most this long before it. */
const PLACED_WITHIN = DAY
/** At most this many orders of a customer are compared. */
const MOST = 100

/**
 * Guesses the order of a payment that names none, for an administrator to confirm. The customer's address and the exact
 * lines must match an order placed within a day before, or else one that these lines would renew.
 * @returns its public number; null if no order, or more than one, matches
 */
async function proposedFor(db: Executor, paid: PaidOrder): Promise<string | null> {
  const email = paid.email ?? paid.contact_email ?? paid.customer?.email
  const paidAt = new Date(paid.processed_at ?? paid.created_at ?? Number.NaN)
  if (!email || Number.isNaN(paidAt.getTime())) return null
  const ofCustomer = and(eq(sql`lower(${users.email})`, email.toLowerCase()), isNull(users.deletedAt))
  const placed = await db
    .select({ order: orders })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(
      and(
        ofCustomer,
        isNull(orders.paidAt),
        isNull(orders.deletedAt),
        gt(orders.createdAt, new Date(paidAt.getTime() - PLACED_WITHIN)),
        lt(orders.createdAt, new Date(paidAt.getTime() + HOUR))
      )
    )
    .orderBy(asc(orders.id))
    .limit(MOST)
  const ids = paid.line_items.flatMap(({ variant_id }) => variant_id ?? [])
  const isPaidBy = paysExactly(paid, await ourVariants(db, ids))
  const bought = placed.filter(({ order }) => isPaidBy(order.lines, order.quantity))
  if (bought.length > 0) return onlyOne(bought)
  const all = await db
    .select({ order: orders })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(and(ofCustomer, inArray(orders.state, [...SERVED_STATES, 'expired']), isNull(orders.deletedAt)))
    .orderBy(asc(orders.id))
    .limit(MOST)
  const running = all.filter(({ order }) => renewable(order, paidAt).ok)
  const today = await currentTermsOf(
    db,
    running.map(({ order }) => order)
  )
  return onlyOne(running.filter(({ order }, at) => isPaidBy(today[at]?.lines ?? [], order.quantity)))
}

const onlyOne = (found: { order: { publicId: string } }[]): string | null =>
  found.length === 1 ? (found[0]?.order.publicId ?? null) : null

/** Do the paid lines equal the needed ones? Other goods of the platform do not count. */
const paysExactly =
  (paid: PaidOrder, ours: ReadonlySet<string>) =>
  (needed: Parameters<typeof compareLines>[0], quantity: number): boolean => {
    const count = (total: number, line: { quantity: number }) => total + line.quantity
    const isOurs = (id: string) => ours.has(id) || needed.some(({ variant }) => variant === id)
    const own = paid.line_items.filter(({ variant_id }) => isOurs(variant_id ?? ''))
    const isAll = missing(compareLines(needed, paid), { quantity }) === null
    return isAll && needed.reduce(count, 0) === own.reduce(count, 0)
  }
