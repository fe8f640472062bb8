import { and, asc, eq, gt, inArray, isNotNull, isNull, lte } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { enqueueMail } from '../mail/index.ts'
import { LIVE_STATES } from './states.ts'
import { orders } from './tables.ts'

const REMIND_BEFORE = 3 * DAY
const BATCH = 200

/**
 * Reminds customers once, three days before their order expires, with a link to renew.
 * @returns how many were reminded
 */
export async function remindExpiries(ctx: AppContext, { batch = BATCH }: { batch?: number } = {}): Promise<number> {
  for (let total = 0; ;) {
    const some = await remindSome(ctx, batch)
    total += some
    if (some < batch) return total
  }
}

function remindSome(ctx: AppContext, batch: number): Promise<number> {
  return command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    const due = await tx
      .select({ order: orders, username: users.username, email: users.email, language: users.language })
      .from(orders)
      .innerJoin(users, eq(users.id, orders.userId))
      .where(
        and(
          inArray(orders.state, [...LIVE_STATES]),
          lte(orders.expiredAt, new Date(now.getTime() + REMIND_BEFORE)),
          gt(orders.expiredAt, now),
          isNull(orders.reminderSentAt),
          isNotNull(orders.paidAt)
        )
      )
      .orderBy(asc(orders.id))
      .limit(batch)
      .for('update', { of: orders, skipLocked: true })
    for (const { order, username, email, language } of due) {
      await tx.update(orders).set({ reminderSentAt: now }).where(eq(orders.id, order.id))
      enqueueMail(unit, {
        to: email,
        language,
        template: 'expiry-reminder',
        data: {
          username,
          order_id: order.publicId,
          product_name: `${order.productName} · ${order.variantName}`,
          proxies: order.deliveryNum,
          expires_at: iso(order.expiredAt ?? now),
          renew_url: `${ctx.config.publicUrl}/dashboard/index/proxies?renew=${order.id}`
        },
        key: `reminder:${order.id}:${iso(order.expiredAt ?? now).slice(0, 10)}`
      })
    }
    return due.length
  })
}
