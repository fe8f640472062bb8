import { fromCents, toCents } from '@netlet/contract/money'
import { and, isNull, lte, or, sql } from '../../infra/db/drizzle.ts'
import { DAY, HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import type {
  RefundOutcome,
  RefundRead,
  Shopify,
  ShopifyOrder,
  TransactionEvent
} from '../../integrations/shopify/index.ts'
import { type DoubtfulRefund, type EventResult, RECONCILED, storeEvent } from '../commerce/index.ts'
import {
  isMarked,
  MOST_PENDING,
  moveRefund,
  paymentOf,
  pendingKey,
  queueOrderRead,
  recordRead,
  refundIdOf,
  refundRowsOf,
  type RefundRow,
  setAwaitsRead,
  setRefundAmount
} from '../payments/index.ts'
import { paymentRefunds } from '../payments/tables.ts'
import { amountOf, VOID_AFTER } from './refund-differences.ts'

/** How often the platform is asked about a pending refund. It may need some business days. */
const ASKED_EVERY = HOUR

const before = (now: Date, milliseconds: number): Date => new Date(now.getTime() - milliseconds)

/** A refund that was reported long enough ago for the platform's list to be final, and not just asked about. */
export const isRefundDue = (now: Date) =>
  and(
    sql`not starts_with(${paymentRefunds.key}, 'dispute:')`,
    lte(paymentRefunds.createdAt, before(now, VOID_AFTER)),
    or(isNull(paymentRefunds.readAt), lte(paymentRefunds.readAt, before(now, ASKED_EVERY)))
  )

const awaitedRefunds = async (db: AppContext['db'] | Unit['tx'], platformOrderId: string, now: Date) =>
  (await refundRowsOf(db, platformOrderId)).filter(
    ({ key, awaitsRead, createdAt }) =>
      awaitsRead && !key.startsWith('dispute:') && createdAt <= before(now, VOID_AFTER)
  )

/** What became of the refunds of an order that wait for it, by the platform's id. No answer means still pending. */
export async function readAwaitedRefunds(
  ctx: AppContext,
  platform: Pick<Shopify, 'readRefund'>,
  platformOrderId: string
): Promise<Map<string, RefundRead>> {
  const rows = await awaitedRefunds(ctx.db, platformOrderId, ctx.now())
  const found = new Map<string, RefundRead>()
  for (const id of new Set(rows.flatMap(row => refundIdOf(row) ?? []))) {
    const read = await platform.readRefund(id)
    found.set(id, read.ok ? read.value : { outcome: 'pending', parts: [] })
  }
  return found
}

/**
 * A refund was made or has failed: its order is read if one is pending. A bank may also return a refund that was made
 * days ago, and the order then does not count as changed.
 */
export async function readTransaction(unit: Unit, event: TransactionEvent): Promise<EventResult> {
  const { order_id: platformOrderId, kind, status } = event
  if (kind !== 'refund') return { outcome: 'ignored' }
  await lock(unit.tx, 'platformOrder', platformOrderId)
  if (status !== 'success') await setAwaitsRead(unit, platformOrderId, true, isCountedRefund)
  const rows = await refundRowsOf(unit.tx, platformOrderId)
  if (rows.some(({ awaitsRead }) => awaitsRead)) queueOrderRead(unit, platformOrderId)
  return { outcome: 'ignored' }
}

const isCountedRefund = sql`${paymentRefunds.state} = 'counted' and not starts_with(${paymentRefunds.key}, 'dispute:')`

/** After an order was read: ends the wait for refunds with a result. An administrator looks at one that has none. */
export async function endAwaitedRefunds(
  unit: Unit,
  { id: platformOrderId, name }: Pick<ShopifyOrder, 'id' | 'name'>,
  found: ReadonlyMap<string, RefundRead>
): Promise<void> {
  for (const row of await awaitedRefunds(unit.tx, platformOrderId, unit.now)) {
    const id = refundIdOf(row)
    const read = found.get(id ?? '')
    if (read) await learnAmount(unit, row, read)
    const outcome = resultFor(row, read?.outcome)
    // The platform was not asked about it: it has just become due.
    if (id !== undefined && outcome === undefined) continue
    // The platform may have made it after its order was read, or list one that failed, which is then read again.
    const isPart = row.key === pendingKey(`refund:${id}`)
    const isLate = row.state === 'counted' && !isMarked(row) && read?.outcome === 'failed'
    const isOpen = outcome === 'pending' || isLate || (row.state === 'answered' && outcome === 'made' && !isPart)
    const isOver = row.createdAt <= before(unit.now, MOST_PENDING)
    // A part that was made is counted by now, as a change of its refund.
    if (row.state === 'answered' && (outcome === 'failed' || (isPart && !isOpen))) {
      await moveRefund(unit, row, 'refuse', { awaitsRead: false })
      if (Number(row.amount) > 0) await tellOf(unit, row, { name, status: 'FAILURE' })
    } else await recordRead(unit, row, isOpen && !isOver)
    if (isOpen && isOver && row.state === 'answered')
      await tellOf(unit, row, { name, status: 'PENDING', days: MOST_PENDING / DAY })
  }
}

/** No webhook reported a pending refund, and its order lists it without its money. */
async function learnAmount(unit: Unit, row: RefundRow, { outcome, parts }: RefundRead): Promise<void> {
  if (row.state !== 'answered' || row.amount !== '0.00' || outcome === 'made' || parts.length === 0) return
  const payment = await paymentOf(unit.tx, row.platformOrderId)
  row.amount = fromCents(parts.reduce((sum, part) => sum + toCents(amountOf(part, payment)), 0n))
  await setRefundAmount(unit, row, row.amount)
}

/** A refund without transactions may have none yet. Without an amount it returned goods only. */
function resultFor({ state, amount }: RefundRow, told: RefundOutcome | undefined): RefundOutcome | undefined {
  if (told !== 'unknown') return told
  return state === 'answered' && Number(amount) > 0 ? 'pending' : 'failed'
}

type Doubt = Pick<DoubtfulRefund, 'name' | 'status' | 'days'>

const tellOf = (unit: Unit, { key, platformOrderId, amount }: RefundRow, doubt: Doubt) =>
  storeEvent(unit, {
    eventId: `${RECONCILED}${doubt.days === undefined ? 'failed' : 'stuck'}:${key}`,
    topic: 'reconciled/doubt',
    payload: { order_id: platformOrderId, amount: amount ?? '0.00', key, ...doubt }
  })
