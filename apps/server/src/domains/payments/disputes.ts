import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import { DisputeEvent } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import type { EventResult } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import { atOwnInstant, comeBack } from './come-back.ts'
import { giveBack, moneyTold, subjectOf, type Refunding } from './give-back.ts'
import { askOfOrder } from './jobs.ts'
import { addRefund, keyAfter, moveRefund, refundRowsOf, rowsOf } from './refund-rows.ts'

/** States in which the buyer's bank has decided to keep the money. */
const LOST: ReadonlySet<string> = new Set(['lost', 'accepted', 'charge_refunded'])
const WON: ReadonlySet<string> = new Set(['won'])
/** States in which the bank holds the money. */
const TAKEN: ReadonlySet<string> = new Set(['needs_response', 'under_review', ...LOST])

/**
 * `disputes/create`, `disputes/update`: a chargeback takes the money when it is opened; an inquiry takes none. Of a win and a loss
 * the later one counts, by the platform's time. A status that says neither (`prevented`: the processor may have given the money back
 * beside the platform) changes nothing, and an administrator looks at it.
 */
export async function disputePayment(unit: Unit, dispute: DisputeEvent, ctx: Refunding): Promise<EventResult> {
  if (dispute.order_id === null) return { outcome: 'ignored' }
  const platformOrderId = dispute.order_id
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const { payment, about, detail } = await subjectOf(unit, platformOrderId)
  const isTaken = TAKEN.has(dispute.status)
  const isKnown = isTaken || WON.has(dispute.status)
  if (!isKnown || (dispute.type === 'inquiry' && isTaken)) return { outcome: 'inquiry', detail, about }
  // An inquiry took nothing, and its end must not keep a chargeback that follows from taking.
  if (dispute.type !== 'chargeback') return { outcome: 'ignored', detail, about }
  if (!isTaken) return { ...(await winBack(unit, ctx, platformOrderId, dispute)), about }
  const key = await keyOfLoss(unit, platformOrderId, dispute)
  if (key === null) return { outcome: 'ignored', about }
  const { amount, currency } = dispute
  const money = amount ? await moneyTold(unit, ctx, platformOrderId, [{ amount, currency }]) : { amount: null }
  // The platform has no list of disputes that says how much of a payment it is: nearly all are about all of it.
  const taken = payment && money.foreignAmount ? { amount: null } : money
  return giveBack(unit, ctx, { platformOrderId, key, ...taken, reason: 'chargeback' })
}

const keyOf = ({ id }: DisputeEvent): string => `dispute:${id}`

/** The rows of one dispute, the oldest first: one, and one more each time that it was lost after it was won. */
const rowsOfDispute = async ({ tx }: Unit, platformOrderId: string, dispute: DisputeEvent) =>
  rowsOf(await refundRowsOf(tx, platformOrderId), keyOf(dispute))

/**
 * The key under which a dispute takes the money now. One that was won takes it again where the platform decided later that it
 * is lost. What it said of the win is kept for some time only; it had decided so before it was told here.
 * @returns null where it has the money, or the win is the later word
 */
async function keyOfLoss(unit: Unit, platformOrderId: string, dispute: DisputeEvent): Promise<string | null> {
  const rows = await rowsOfDispute(unit, platformOrderId, dispute)
  const last = rows.at(-1)
  if (!last) return keyOf(dispute)
  const lostAt = LOST.has(dispute.status) ? decidedAt(dispute) : null
  if (!last.reversedAt || lostAt === null) return null
  const wonAt = (await lastDecidedAt(unit.tx, platformOrderId, dispute, WON)) ?? last.reversedAt
  return lostAt > wonAt ? keyAfter(rows, keyOf(dispute)) : null
}

/**
 * The money of a dispute came back: what it took is undone, once, whether its opening was told before or comes later. The
 * books are as they were; a lease that has ended stays so until an administrator reopens it.
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
  const wonAt = decidedAt(dispute)
  const lostAt = await lastDecidedAt(own.tx, platformOrderId, dispute, LOST)
  if (last && wonAt && lostAt && lostAt > wonAt) return { outcome: 'ignored' }
  // A payment that it held is judged again, and refunds that it hid are counted.
  const back = { reversedAt: own.now, awaitsDecision: true, foreignAmount: null }
  if (last) await moveRefund(own, last, 'return', back)
  else await addRefund(own, { ...back, key: keyOf(dispute), platformOrderId, amount: '0.00', state: 'returned' })
  askOfOrder(unit, platformOrderId)
  return comeBack(own, ctx, platformOrderId, 'dispute_won')
}

/** When the platform decided so; null where it does not say. */
function decidedAt({ finalized_on }: Pick<DisputeEvent, 'finalized_on'>): Date | null {
  const at = new Date(finalized_on ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at
}

/**
 * When the platform last decided so of a dispute, by its own time, since webhooks come in any sequence: as far as its handled
 * events say; null where none says.
 */
async function lastDecidedAt(
  db: Executor,
  platformOrderId: string,
  { id }: DisputeEvent,
  states: ReadonlySet<string>
): Promise<Date | null> {
  const told = await db
    .select({ payload: platformEvents.payload })
    .from(platformEvents)
    .where(
      and(
        eq(platformEvents.platformOrderId, platformOrderId),
        inArray(platformEvents.topic, ['disputes/create', 'disputes/update']),
        isNotNull(platformEvents.processedAt)
      )
    )
  const times = told.flatMap(({ payload }) => {
    const { data } = DisputeEvent.safeParse(payload)
    const at = data?.id === id && states.has(data.status) ? decidedAt(data) : null
    return at === null ? [] : [at.getTime()]
  })
  return times.length === 0 ? null : new Date(Math.max(...times))
}
