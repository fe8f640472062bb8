import { and, asc, eq, gt, isNull, lte, or, sql } from '../../infra/db/drizzle.ts'
import { inBatches } from '../../infra/batches.ts'
import { DAY, iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { variants } from '../catalog/tables.ts'
import { enqueueMail } from '../mail/index.ts'
import { orderMailColumns, orderMailFrom } from './order-mail.ts'
import { orders } from './tables.ts'
import { emitOrderEvent } from './transition.ts'

const BATCH = 200

/*
 * When reminders are due. First: the lesser of three days and a third of the term before the expiry, so that no
 * customer is reminded right after the delivery. Second: the lesser of one day and a third of that. A one-day term gets
 * only the first.
 */
const FIRST_AT_MOST = 3 * DAY
const firstDue = (now: Date) =>
  sql<boolean>`${orders.expiredAt} - least(interval '3 days', ${orders.proxyTime} * interval '8 hours') <= ${now.toISOString()}::timestamptz`
const lastDue = (now: Date) =>
  sql<boolean>`(${orders.proxyTime} > 1 and ${orders.expiredAt} - least(interval '1 day', ${orders.proxyTime} * interval '160 minutes') <= ${now.toISOString()}::timestamptz)`

/**
 * Reminds customers before their order expires, with a link to renew, twice for each expiry. A moved or renewed expiry
 * starts over.
 * @returns how many were reminded
 */
export const remindExpiries = (ctx: AppContext, { batch = BATCH }: { batch?: number } = {}): Promise<number> =>
  inBatches(ctx, batch, unit => remindSome(unit, ctx.config.publicUrl, batch))

async function remindSome(unit: Unit, publicUrl: string, batch: number): Promise<number> {
  const { tx, now } = unit
  const due = await tx
    .select({ order: orders, about: orderMailColumns, renewalDays: variants.proxyTime, last: lastDue(now) })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .innerJoin(variants, eq(variants.id, orders.variantId))
    .where(
      and(
        eq(orders.state, 'delivered'),
        gt(orders.expiredAt, now),
        lte(orders.expiredAt, new Date(now.getTime() + FIRST_AT_MOST)),
        isNull(orders.deletedAt),
        // A renewal's payment is on its way. If it fails, the reminder is still due.
        or(isNull(orders.pendingUntil), lte(orders.pendingUntil, now)),
        or(and(isNull(orders.reminderSentAt), firstDue(now)), and(isNull(orders.lastReminderSentAt), lastDue(now)))
      )
    )
    .orderBy(asc(orders.id))
    .limit(batch)
    .for('update', { of: orders, skipLocked: true })
  for (const { order, about, renewalDays, last } of due) {
    const expiresAt = iso(order.expiredAt ?? now)
    // If both reminders are due at once, one mail counts for both.
    const sent = { reminderSentAt: order.reminderSentAt ?? now, ...(last ? { lastReminderSentAt: now } : {}) }
    await tx.update(orders).set(sent).where(eq(orders.id, order.id))
    await emitOrderEvent(unit, 'order.expiring', order, { last })
    const mail = orderMailFrom(about)
    enqueueMail(unit, {
      ...mail,
      template: 'expiry-reminder',
      data: {
        ...mail.data,
        proxies: order.deliveryNum,
        expires_at: expiresAt,
        last,
        renewal_days: renewalDays,
        renew_url: `${publicUrl}/dashboard/index/proxies?renew=${order.id}`
      },
      key: `reminder:${order.id}:${last ? 'last' : 'first'}:${expiresAt}`
    })
  }
  return due.length
}
