import { and, asc, inArray, isNotNull, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { ShopifyDispute, ShopifyOrder } from '../../integrations/shopify/index.ts'
import { openPlatform, readCheck, READ_DISPUTES, RECONCILED, storeEvent } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import { readSettings } from '../settings/index.ts'
import { rowsOf, stageOf, type RefundRow } from '../payments/index.ts'
import { paymentRefunds, payments } from '../payments/tables.ts'

/** How far back disputes are asked for. A buyer's bank takes months to decide. */
const LOOK_BACK = 180 * DAY

/** A dispute as the platform returns it now, alone or with its order. */
type Seen = Pick<ShopifyDispute, 'id' | 'type' | 'status'> & { platformOrderId: string } & Partial<ShopifyDispute>

/**
 * Asks the platform for all disputes of the last months and stores what no webhook reported: a dispute may leave its
 * order unchanged, and only this list has its amount and type. Does nothing if the app lacks the scope. The next run asks for all of them again.
 * @returns how many events were found
 */
export async function reconcileDisputes(ctx: AppContext): Promise<number> {
  const seen = await readList(ctx)
  const known = await ctx.db
    .select({ id: payments.platformOrderId })
    .from(payments)
    .where(anyOf(payments.platformOrderId, seen))
  const isOurs = new Set(known.map(({ id }) => id))
  const ours = seen.filter(({ platformOrderId }) => isOurs.has(platformOrderId))
  const rows = await ctx.db
    .select()
    .from(paymentRefunds)
    .where(anyOf(paymentRefunds.platformOrderId, ours))
    .orderBy(asc(paymentRefunds.id))
  let found = 0
  for (const event of missedDisputes(ours, { rows, reported: await readReportedDisputes(ctx, ours), now: ctx.now() }))
    if (await command(ctx, SYSTEM, unit => storeEvent(unit, event))) found++
  return found
}

/** All disputes of the last months that name an order; none if the app lacks the scope or the platform does not answer. */
async function readList(ctx: AppContext): Promise<Seen[]> {
  const platform = await openPlatform(ctx)
  const shop = (await readCheck(ctx.db, 'shop'))?.result
  if (!platform.ok || !shop || !('scopes' in shop) || !shop.scopes.includes(READ_DISPUTES)) return []
  // Without the event of an older dispute, it would look new again.
  const { keep_events_days: kept } = await readSettings(ctx.db, ctx.secrets)
  const read = await platform.data.disputes(new Date(ctx.now().getTime() - Math.min(LOOK_BACK, kept * DAY)))
  if (read.ok)
    return read.value.flatMap(({ platformOrderId, ...one }) => (platformOrderId ? [{ ...one, platformOrderId }] : []))
  ctx.log.warn({ reason: read.message }, 'the disputes of the platform cannot be read')
  return []
}

/** What no webhook reported about the disputes of these orders. The list of all disputes, if it can be read, has their amounts. */
export async function findMissedDisputes(
  ctx: AppContext,
  orders: readonly ShopifyOrder[],
  rows: readonly RefundRow[]
): Promise<ReturnType<typeof missedDisputes>> {
  const seen = disputesOf(orders)
  const known = { rows, reported: await readReportedDisputes(ctx, seen), now: ctx.now() }
  if (missedDisputes(seen, known).length === 0) return []
  const listed = new Map((await readList(ctx)).map(one => [one.id, one]))
  return missedDisputes(
    seen.map(one => listed.get(one.id) ?? one),
    known
  )
}

const anyOf = (column: unknown, seen: readonly Seen[]) =>
  sql`${column} = any(${sql.param(seen.map(one => one.platformOrderId))}::text[])`

/** The disputes that the platform returned with orders. */
const disputesOf = (orders: readonly ShopifyOrder[]): Seen[] =>
  orders.flatMap(({ id, disputes }) => disputes.map(one => ({ ...one, platformOrderId: id })))

/** A dispute as a handled event reported it. Null once the payload is deleted. */
type ReportedDispute = { platformOrderId: string | null; id: string | null; status: string | null }

/** What events reported about the disputes of these platform orders, oldest first. */
async function readReportedDisputes({ db }: AppContext, seen: readonly Seen[]): Promise<ReportedDispute[]> {
  if (seen.length === 0) return []
  return db
    .select({
      platformOrderId: platformEvents.platformOrderId,
      id: sql<string | null>`${platformEvents.payload} ->> 'id'`,
      status: sql<string | null>`${platformEvents.payload} ->> 'status'`
    })
    .from(platformEvents)
    .where(
      and(
        anyOf(platformEvents.platformOrderId, seen),
        inArray(platformEvents.topic, ['disputes/create', 'disputes/update']),
        isNotNull(platformEvents.processedAt)
      )
    )
    .orderBy(asc(platformEvents.id))
}

type Known = { rows: readonly RefundRow[]; reported: readonly ReportedDispute[]; now: Date }

/**
 * Disputes that are unknown here or have another status, as their webhook would report them. If only an order's summary
 * is known, there is no amount, so all of the payment is disputed, and no time, so a decision counts from when it was read.
 */
function missedDisputes(seen: readonly Seen[], { rows, reported, now }: Known) {
  return seen.flatMap(dispute => {
    const { id, platformOrderId, status, amount, currency, finalizedOn } = dispute
    const own = rowsOf(rows, `dispute:${id}`)
    if (
      !differsFromReport(dispute, {
        last: own.at(-1),
        reported: reported.filter(one => one.platformOrderId === platformOrderId)
      })
    )
      return []
    // One that took the money has become a chargeback, whatever it was at first.
    const type = own.length > 0 ? 'chargeback' : dispute.type
    const finalized_on = finalizedOn ?? (isDecision(status) ? now.toISOString() : null)
    const payload = { id, order_id: platformOrderId, type, status, amount, currency, finalized_on }
    return [
      { eventId: `${RECONCILED}dispute:${id}:${type}:${status}:${own.length}`, topic: 'disputes/update', payload }
    ]
  })
}

const isDecision = (status: string): boolean => ['won', 'lost'].includes(stageOf(status) ?? '')

type Before = { last: RefundRow | undefined; reported: readonly ReportedDispute[] }

function differsFromReport({ id, type, status }: Seen, { last, reported }: Before): boolean {
  const stage = stageOf(status)
  if (last && stage !== null)
    return last.state === 'counted' ? stage === 'won' || (stage === 'lost' && !last.lost) : stage === 'lost'
  if (type === 'chargeback' && stage !== null) return true
  // An inquiry that ended took nothing.
  if (stage === 'won') return false
  const isForgotten = reported.some(one => one.id === null)
  return !isForgotten && reported.findLast(one => one.id === id)?.status !== status
}
