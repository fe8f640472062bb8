import {
  type PaidOrder,
  readOrderReference,
  type Shopify,
  type ShopifyOrder
} from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { type EventResult, isCancelledThere, saveCheck, storeFurther } from '../commerce/index.ts'
import {
  holdForPayment,
  holdForRenewal,
  isUnsettled,
  lockOrderByPublicId,
  currentTerms,
  PENDING_GRACE,
  renewable,
  type OrderRow,
  type UnpaidState
} from '../orders/index.ts'
import { compareLines, downToCents, missing, paymentOf, enqueueOrderRead } from '../payments/index.ts'
import { readSettings } from '../settings/index.ts'
import { toEvent } from './refund-differences.ts'

/**
 * Holds the addresses of orders whose payment is on its way, and lets go of those whose payment is not any more. Names
 * one that is authorised on the health page: without a capture it is never paid.
 */
export async function holdPending(
  ctx: AppContext,
  platform: Pick<Shopify, 'openPayments'>,
  ours: readonly ShopifyOrder[]
): Promise<void> {
  const read: ({ order: string } & UnpaidOrder)[] = []
  for (const order of ours) {
    if (order.financialStatus === 'AUTHORIZED' && order.cancelledAt === null)
      await saveCheck(ctx, 'authorized', { order: order.name })
    const event = toEvent(order)
    const named = readOrderReference(event)
    const untaken = named && (await unpaidStateOf(platform, order))
    const received =
      order.financialStatus === 'PARTIALLY_PAID' ? `${downToCents(order.received)} ${order.currency}` : null
    if (named && untaken) read.push({ order: named.order, event, untaken, received })
  }
  // One order may be paid at two checkouts, of which one has expired: it is held for the other first.
  const isOver = ({ untaken }: (typeof read)[number]) => Number(untaken === 'expired' || untaken === 'gone')
  for (const { order, ...unpaid } of read.toSorted((a, b) => isOver(a) - isOver(b)))
    await command(ctx, SYSTEM, unit => holdOrder(unit, ctx, order, unpaid))
}

/** What the platform says of an order that it has not been paid for; null if there is nothing to hold or let go of. */
async function unpaidStateOf(
  platform: Pick<Shopify, 'openPayments'>,
  order: ShopifyOrder
): Promise<UnpaidState | null> {
  const { id, financialStatus: status } = order
  if (status === 'VOIDED' || status === 'REFUNDED') return 'gone'
  if (status === 'EXPIRED') return 'expired'
  if (status !== 'PENDING' && status !== 'AUTHORIZED' && status !== 'PARTIALLY_PAID') return null
  if (order.cancelledAt !== null) return 'gone'
  if (status === 'AUTHORIZED') return 'coming'
  const open = await platform.openPayments(id)
  // The next run asks again.
  if (!open.ok) return status === 'PENDING' ? 'unproven' : null
  // A gift card has paid the first part, and the rest is on its way or was not made.
  if (status === 'PARTIALLY_PAID') return open.value === 'none' ? 'expired' : 'coming'
  return open.value === 'some' ? 'coming' : 'unproven'
}

type UnpaidOrder = {
  event: Pick<PaidOrder, 'id' | 'name' | 'line_items' | 'note_attributes' | 'note' | 'created_at'>
  untaken: UnpaidState
  /** '10.00 USD': the part that the platform has taken; null: none, or it has not been read yet. */
  received: string | null
}

/** Holds our order for what the platform says of one payment of it, or lets go of it. */
async function holdOrder(
  unit: Unit,
  ctx: Pick<AppContext, 'secrets'>,
  publicId: string,
  { event, untaken: said, received }: UnpaidOrder
): Promise<void> {
  const order = await lockOrderByPublicId(unit, publicId)
  if (!order) return
  const isRenewal = !isUnsettled(order)
  const isItsRenewal = isRenewal && readOrderReference(event)?.isRenewal === true
  const sold = isRenewal ? await currentTerms(unit.tx, order) : null
  const { lines, withdrawn } = sold ?? { ...order, withdrawn: null }
  // A payment for less would be held, not settle the order.
  const covers = !withdrawn && missing(compareLines(lines, event), order) === null
  const since = new Date(event.created_at ?? unit.now)
  const isLate = since.getTime() + PENDING_GRACE <= unit.now.getTime()
  const waits = isRenewal
    ? isItsRenewal && covers && said === 'coming' && !isLate && renewable(order, unit.now).ok
    : (order.state === 'placed' || order.state === 'failed') && order.reservedUntil > unit.now
  if (received !== null && !waits && !(await paymentOf(unit.tx, event.id)))
    await storePartlyPaid(unit, order, { event, received })
  // What a purchase left on the platform does not concern its renewal.
  if (isRenewal && !isItsRenewal) return
  const pending = { platformOrderId: event.id, untaken: covers || said === 'expired' ? said : 'gone' } as const
  if (!sold) return holdForPayment(unit, order, pending)
  const { grace_hours: graceHours } = await readSettings(unit.tx, ctx.secrets)
  await holdForRenewal(unit, order, pending, { since, days: sold.days, graceHours })
}

/** An order does not wait for the rest of a payment of which the platform has a part. No other report of it comes. */
const storePartlyPaid = (
  unit: Unit,
  order: OrderRow,
  { event: { id, name }, received }: Pick<UnpaidOrder, 'event'> & { received: string }
) =>
  storeFurther(unit, `partly-paid:${id}`, {
    order_id: id,
    outcome: 'part_paid',
    detail: { order_id: order.publicId, platform_order: name, amount: received }
  })

const OPEN = new Set<unknown>(['pending', 'authorized', 'partially_paid'])

/**
 * `orders/create`: a checkout has ended, and its payment may need days. Holds the addresses at once, as for a payment
 * without proof, and reads from the platform how it is paid.
 */
export async function holdCreated(unit: Unit, created: PaidOrder, ctx: AppContext): Promise<EventResult> {
  const named = readOrderReference(created)
  if (!named || !OPEN.has(created.financial_status) || created.cancelled_at) return { outcome: 'ignored' }
  await lock(unit.tx, 'platformOrder', created.id)
  // Webhooks come in any sequence.
  if ((await paymentOf(unit.tx, created.id)) || (await isCancelledThere(unit.tx, created.id)))
    return { outcome: 'ignored' }
  await holdOrder(unit, ctx, named.order, { event: created, untaken: 'unproven', received: null })
  enqueueOrderRead(unit, created.id)
  return { outcome: 'not_paid' }
}
