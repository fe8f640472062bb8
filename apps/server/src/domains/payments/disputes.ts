import { and, eq, inArray, isNotNull } from '../../infra/db/drizzle.ts'
import { DisputeEvent } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import type { EventResult } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import { atOwnInstant, applyReturn } from './apply-return.ts'
import { countCodes, gatherBalance, recordRefund, paymentAndOrderOf, type Refunding } from './refund-reports.ts'
import { enqueueOrderRead } from './queues.ts'
import { reportedMoney, timeOf } from './rows.ts'
import { addRefund, counted, isUnconverted, keyAfter, moveRefund, refundRowsOf, rowsOf } from './refund-rows.ts'
import { paymentRefunds } from './tables.ts'

/** Statuses in which the buyer's bank has decided to keep the money. */
const LOST: ReadonlySet<string> = new Set(['lost', 'accepted', 'charge_refunded'])
const WON: ReadonlySet<string> = new Set(['won'])
/** Statuses in which the bank holds the money. */
const TAKEN: ReadonlySet<string> = new Set(['needs_response', 'under_review', ...LOST])

/** `taken`: the bank holds the money. `lost`: it keeps it. `won`: the shop has it. Null: none of these. */
export const stageOf = (status: string): 'taken' | 'lost' | 'won' | null =>
  LOST.has(status) ? 'lost' : WON.has(status) ? 'won' : TAKEN.has(status) ? 'taken' : null

/**
 * `disputes/create`, `disputes/update`: a chargeback takes the money when it opens, an inquiry takes none. Of a win and
 * a loss, the later by the platform's clock counts. Another status changes nothing and goes to an administrator: with
 * `prevented`, the processor may have refunded outside the platform.
 */
export async function disputePayment(unit: Unit, dispute: DisputeEvent, ctx: Refunding): Promise<EventResult> {
  if (dispute.order_id === null) return { outcome: 'ignored' }
  const platformOrderId = dispute.order_id
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const { payment, about, detail } = await paymentAndOrderOf(unit, platformOrderId)
  const isTaken = TAKEN.has(dispute.status)
  const isKnown = isTaken || WON.has(dispute.status)
  if (!isKnown || (dispute.type === 'inquiry' && isTaken)) return { outcome: 'inquiry', detail, about }
  // An inquiry took nothing. If its end were recorded, a chargeback that follows could not take the money.
  if (dispute.type !== 'chargeback') return { outcome: 'ignored', detail, about }
  if (!isTaken) return { ...(await winBack(unit, ctx, platformOrderId, dispute)), about }
  const { amount, currency } = dispute
  const money = amount ? await reportedMoney(unit, ctx, platformOrderId, [{ amount, currency }]) : { amount: null }
  // The platform does not report the amount in the payment's currency. Nearly all disputes are about all of it.
  const taken = payment && 'foreignAmount' in money && isUnconverted(money) ? { amount: null } : money
  const key = await keyOfLoss(unit, platformOrderId, dispute)
  const given = key && (await recordRefund(unit, ctx, { platformOrderId, key, ...taken, reason: 'chargeback' }))
  if (LOST.has(dispute.status)) {
    const row = counted(await rowsOfDispute(unit, platformOrderId, dispute)).at(-1)
    if (row) await unit.tx.update(paymentRefunds).set({ lost: true }).where(eq(paymentRefunds.id, row.id))
    const balance = await gatherBalance(unit, ctx, platformOrderId)
    if (balance) await countCodes(unit, balance)
  }
  return { ...(given || { outcome: 'ignored' }), about }
}

const keyOf = ({ id }: DisputeEvent): string => `dispute:${id}`

/** Rows of one dispute, oldest first: one for its opening, and one for each loss after a win. */
const rowsOfDispute = async ({ tx }: Unit, platformOrderId: string, dispute: DisputeEvent) =>
  rowsOf(await refundRowsOf(tx, platformOrderId), keyOf(dispute))

/**
 * The key under which a dispute takes the money now. A won dispute takes it again if the platform decided the loss
 * later. The event of the win may be deleted already. Then the time when we recorded the win stands in for it.
 * @returns null if the dispute already has the money, or the win is later
 */
async function keyOfLoss(unit: Unit, platformOrderId: string, dispute: DisputeEvent): Promise<string | null> {
  const rows = await rowsOfDispute(unit, platformOrderId, dispute)
  const last = rows.at(-1)
  if (!last) return keyOf(dispute)
  const lostAt = LOST.has(dispute.status) ? timeOf(dispute.finalized_on) : null
  if (!last.reversedAt || lostAt === null) return null
  const wonAt = (await lastDecidedAt(unit.tx, platformOrderId, dispute, WON)) ?? last.reversedAt
  return lostAt > wonAt ? keyAfter(rows, keyOf(dispute)) : null
}

/**
 * Undoes what a dispute took, once, even if its opening is reported later. The books are as before. A lease that ended
 * stays ended until an administrator reopens it.
 */
async function winBack(
  unit: Unit,
  ctx: Refunding,
  platformOrderId: string,
  dispute: DisputeEvent
): Promise<EventResult> {
  const own = await atOwnInstant(unit, platformOrderId)
  const last = (await rowsOfDispute(unit, platformOrderId, dispute)).at(-1)
  if (last?.reversedAt) return { outcome: 'ignored' }
  const wonAt = timeOf(dispute.finalized_on)
  const lostAt = await lastDecidedAt(own.tx, platformOrderId, dispute, LOST)
  if (last && wonAt && lostAt && lostAt > wonAt) return { outcome: 'ignored' }
  // Reading the order judges a held payment again and counts refunds that the dispute hid.
  const back = { reversedAt: own.now, awaitsRead: true, foreignAmount: null }
  if (last) await moveRefund(own, last, 'return', back)
  else await addRefund(own, { ...back, key: keyOf(dispute), platformOrderId, amount: '0.00', state: 'returned' })
  enqueueOrderRead(unit, platformOrderId)
  return applyReturn(own, ctx, platformOrderId, 'dispute_won')
}

/**
 * The platform's time of the latest decision in `states`, from handled events; null if none has one. The order in which
 * webhooks arrive does not tell.
 */
async function lastDecidedAt(
  db: Executor,
  platformOrderId: string,
  { id }: DisputeEvent,
  states: ReadonlySet<string>
): Promise<Date | null> {
  const reported = await db
    .select({ payload: platformEvents.payload })
    .from(platformEvents)
    .where(
      and(
        eq(platformEvents.platformOrderId, platformOrderId),
        inArray(platformEvents.topic, ['disputes/create', 'disputes/update']),
        isNotNull(platformEvents.processedAt)
      )
    )
  const times = reported.flatMap(({ payload }) => {
    const { data } = DisputeEvent.safeParse(payload)
    const at = data?.id === id && states.has(data.status) ? timeOf(data.finalized_on) : null
    return at === null ? [] : [at.getTime()]
  })
  return times.length === 0 ? null : new Date(Math.max(...times))
}
