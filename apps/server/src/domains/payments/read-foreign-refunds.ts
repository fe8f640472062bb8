import { toCents } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { ShopifyOrder } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { EDITED, openPlatform, storeEvent } from '../commerce/index.ts'
import { downToCents } from './paid-order.ts'
import { foreignAmountOf } from './foreign-amount.ts'
import {
  askForRefunds,
  endComparisons,
  endDecisions,
  foreignKey,
  releaseForeign,
  unknownRefunds,
  unreadRefunds,
  voidForeign
} from './foreign-refunds.ts'
import { asEvent, handledAmong, missedOf, oursAmong } from './reconcile.ts'
import { LISTED, VOID_AFTER } from './refund-differences.ts'
import { paymentOf } from './rows.ts'
import { paymentStateOf } from './states.ts'
import { paymentRefunds } from './tables.ts'

const MOST_ORDERS = 50
/** As often as the reconciliation runs. */
const EVERY = 5 * MINUTE

type Asked = { platformOrderId: string }

/**
 * Reads a platform's order, of which a refund was told, in the shop's currency. What it gave back, or did not after all, is
 * handled as the event that no webhook told; a refund in the buyer's currency that was not made ends; once nothing is unknown, a
 * payment that was held is judged again. Nothing changes where the platform does not answer: it is asked again with the reconciliation.
 */
export async function readForeignRefunds(ctx: AppContext, { platformOrderId }: Asked): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const read = await platform.data.order(platformOrderId)
  if (!read.ok) {
    ctx.log.warn({ platformOrderId, reason: read.message }, 'the refunds of an order cannot be read')
    if (read.reason === 'not_found')
      await command(ctx, SYSTEM, async unit => {
        await endDecisions(unit, platformOrderId)
        await endComparisons(unit, platformOrderId)
      })
    return
  }
  const order = read.value
  const ours = await oursAmong(ctx, [order])
  const missed = await missedOf(ctx, ours)
  for (const event of missed) await command(ctx, SYSTEM, unit => storeEvent(unit, event))
  const areHandled = (await handledAmong(ctx, missed)).size === missed.length
  await command(ctx, SYSTEM, async unit => {
    await lock(unit.tx, 'platformOrder', platformOrderId)
    // The platform sells other things than ours: nobody waits for what becomes of those.
    if (ours.length === 0) await releaseForeign(unit, { platformOrderId })
    else await endVoid(unit, order)
    await judgeHeldAgain(unit, order)
    await endDecisions(unit, platformOrderId)
    // Its refunds are compared once what was missed is known here.
    if (areHandled) await endComparisons(unit, platformOrderId)
    unit.publish('platform_event')
  })
}

async function endVoid(unit: Unit, { id, refunds }: ShopifyOrder): Promise<void> {
  const made = new Set(
    refunds.filter(({ amount }) => toCents(downToCents(amount)) > 0n).map(refund => foreignKey(refund.id))
  )
  const listed = new Set(refunds.map(refund => foreignKey(refund.id)))
  for (const { key, createdAt } of await unknownRefunds(unit.tx, id)) {
    const mayBeLater = refunds.length >= LISTED && !listed.has(key)
    const isLate = createdAt.getTime() <= unit.now.getTime() - VOID_AFTER
    if (!made.has(key) && isLate && !mayBeLater) await voidForeign(unit, key)
  }
}

/** As the platform tells of an edited order: the payment may settle by now. */
async function judgeHeldAgain(unit: Unit, order: ShopifyOrder): Promise<void> {
  const payment = await paymentOf(unit.tx, order.id)
  if (!payment || paymentStateOf(payment) !== 'held' || (await foreignAmountOf(unit.tx, order.id)) !== null) return
  // Once for what is known of its refunds.
  const known = await unit.tx.$count(paymentRefunds, eq(paymentRefunds.platformOrderId, order.id))
  const eventId = `${EDITED}${order.id}:${order.updatedAt}:refunds:${known}`
  await storeEvent(unit, { eventId, topic: 'orders/paid', payload: asEvent(order) })
}

/** Asks for all whose amount is still unknown, and for payments that wait to be judged again. After an hour the administrators are told, once of each. */
export async function askForAllRefunds(ctx: AppContext): Promise<void> {
  const unread = await unreadRefunds(ctx.db, ctx.now())
  if (unread.length === 0) return
  const late = ctx.now().getTime() - HOUR
  await command(ctx, SYSTEM, async unit => {
    for (const { key, platformOrderId, foreignAmount, awaitsDecision, createdAt } of nextOf(unread, ctx.now())) {
      askForRefunds(unit, platformOrderId)
      if (awaitsDecision || createdAt.getTime() > late) continue
      const name = (await paymentOf(unit.tx, platformOrderId))?.platformOrderNumber ?? platformOrderId
      await notifyAdmins(unit, {
        words: 'refund_amount',
        params: { payment: name, money: foreignAmount ?? '–' },
        key: `refund-amount:${key}`
      })
    }
  })
}

/** Each time the next ones, and from the beginning again: those that the platform cannot show must not keep others waiting. */
function nextOf<One>(all: readonly One[], now: Date): readonly One[] {
  if (all.length <= MOST_ORDERS) return all
  const start = (Math.floor(now.getTime() / EVERY) * MOST_ORDERS) % all.length
  return [...all.slice(start), ...all.slice(0, start)].slice(0, MOST_ORDERS)
}
