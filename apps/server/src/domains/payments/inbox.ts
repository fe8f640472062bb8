import { ATTENTION, refuse, type EventOutcome, type InboxDetail, type InboxEntry } from '@netlet/contract'
import { eq, sql, type SQL } from 'drizzle-orm'
import { PaidOrder } from '../../integrations/shopify/index.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import { users } from '../accounts/tables.ts'
import { attentionSentence } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import { orders } from '../orders/tables.ts'
import { compareLines } from './compare-payment.ts'
import { ENDED_BY_DELIVERY, paymentStateOf } from './states.ts'
import { payments } from './tables.ts'

type Query = ListInput<'id'> & { outcome?: EventOutcome | undefined; needs_hand?: '1' | '0' | undefined }

/** Outcomes that giving back all of the payment does not end. */
const AFTER_REFUND = ['dispute_won', 'renewals_unserved']
/** Outcomes of a payment that settled nothing then: they end when it counts, since it was judged again or applied. */
const HELD = ['unknown_order', 'paid_twice', 'renewal_too_late', 'renewal_underpaid', 'renewal_lines_missing']

const listOf = (words: readonly string[]) => sql.raw(words.map(word => `'${word}'`).join(', '))

/** Letter for letter the condition of the index platform_events_open. */
const unresolved = sql`${platformEvents.needsHand} and ${platformEvents.resolution} is null`

/**
 * Does an event still wait for an administrator? Not where somebody resolved it, its money was given back (or, after a
 * dispute that was won, its order goes on), its order was delivered after all, or its payment counts by now: it looks at how things are, so nothing has to be written when one of these happens.
 */
export const isOpen: SQL = sql`(${unresolved} and not exists (
  select 1 from ${payments} p left join ${orders} o on o.id = p.order_id
  where p.platform_order_id = ${platformEvents.platformOrderId} and (
    p.refunded_at is not null and ${platformEvents.outcome} not in (${listOf(AFTER_REFUND)})
    or p.refunded_at > ${platformEvents.processedAt}
    or p.accepted and ${platformEvents.outcome} in (${listOf(HELD)})
    or p.accepted and o.state not in ('expired', 'failed') and ${platformEvents.outcome} = 'dispute_won'
    or ${platformEvents.outcome} = 'renewals_unserved' and (p.refunded_at is null or not exists (
      select 1 from ${payments} r
      where r.order_id = p.order_id and r.kind = 'renewal' and r.accepted and r.refunded_at is null))
    or p.accepted and o.state <> 'failed' and ${platformEvents.outcome} in (${listOf(ENDED_BY_DELIVERY)}))))`

/** How many events wait for an administrator. */
export const countOpenEvents = (db: Executor): Promise<number> => db.$count(platformEvents, isOpen)

/** The platform's events about money, newest first, found by either order's number. */
export const inboxList = defineList<Query, InboxEntry>({
  name: 'payments',
  table: platformEvents,
  id: platformEvents.id,
  sort: { id: platformEvents.id },
  match: (_db, { search, outcome, needs_hand }) => ({
    where: [
      sql`${platformEvents.topic} not like 'products/%'`,
      outcome === undefined ? undefined : eq(platformEvents.outcome, outcome),
      needs_hand === undefined ? undefined : needs_hand === '1' ? isOpen : sql`not ${isOpen}`
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
        resolvedAt: platformEvents.resolvedAt
      },
      open: sql<boolean>`${isOpen}`,
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
    needs_hand: open,
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

/** One event of the inbox as its list shows it; undefined where there is none. */
export async function findEntry(db: Executor, id: number): Promise<InboxEntry | undefined> {
  const [row] = await select(db).where(
    sql`${platformEvents.id} = ${id} and ${platformEvents.topic} not like 'products/%'`
  )
  return row && present(row)
}

/** One event with the lines of the platform's order beside those that our order needs. */
export async function findEntryDetail(db: Executor, id: number): Promise<Result<InboxDetail>> {
  const entry = await findEntry(db, id)
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
    lines: items.map(({ title, variant_title, variant_id, quantity, current_quantity, price }) => ({
      title: variant_title ? `${title} · ${variant_title}` : title,
      variant: variant_id ?? '',
      quantity: current_quantity ?? quantity,
      price
    })),
    needed: paid?.success && order ? compareLines(order.lines, paid.data) : []
  })
}
