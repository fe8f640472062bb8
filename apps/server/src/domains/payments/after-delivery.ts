import { withUnit } from '../../infra/legacy-unit.ts'
import { and, asc, eq, isNotNull, isNull, lt, lte, gt, inArray } from 'drizzle-orm'
import { DAY, iso } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { openPlatform, platformRefusal } from '../catalog/index.ts'
import { enqueueMail } from '../mail/index.ts'
import { LIVE_STATES } from '../orders/index.ts'
import { orders, platformEvents } from '../orders/tables.ts'
import { settleQueue, tagQueue } from './queues.ts'

const REMIND_BEFORE = 3 * DAY
const BATCH = 200

/** Tells the customer and the platform that an order's proxies work. */
export async function announceDelivery(ctx: AppContext, orderId: number): Promise<void> {
  await ctx.db.transaction(async tx => {
    const [row] = await tx
      .select({ order: orders, username: users.username, email: users.email })
      .from(orders)
      .innerJoin(users, eq(users.id, orders.userId))
      .where(eq(orders.id, orderId))
    if (!row) return
    const { order, username, email } = row
    await withUnit(tx, ctx.jobs, async unit =>
      enqueueMail(unit, {
        to: email,
        template: 'proxies-delivered',
        data: {
          username,
          order_id: order.orderId,
          product_name: `${order.productName} · ${order.variantName}`,
          proxies: order.deliveryNum,
          expires_at: iso(order.expiredAt ?? ctx.now()),
          dashboard_url: `${ctx.config.publicUrl}/dashboard/index/proxies`
        },
        key: `delivered:${order.id}`
      })
    )
    if (order.platformOrderId) {
      await ctx.jobs.send(
        tx,
        tagQueue,
        { platformOrderId: order.platformOrderId, tags: ['delivered'] },
        { key: `${order.platformOrderId}:delivered` }
      )
    }
  })
}

/** Tags a platform order. @throws where another try may help */
export async function tagPlatformOrder(
  ctx: AppContext,
  { platformOrderId, tags, note }: { platformOrderId: string; tags: string[]; note?: string }
): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) throw new Error('The platform is not configured')
  const tagged = await platform.data.tagOrder(platformOrderId, tags, note)
  if (tagged.ok) return
  if (tagged.retryable) throw new Error(platformRefusal(tagged).msg ?? tagged.message)
  ctx.log.error({ platformOrderId, tags, reason: tagged.message }, 'the platform refused a tag')
}

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

async function remindSome(ctx: AppContext, batch: number): Promise<number> {
  const now = ctx.now()
  return ctx.db.transaction(async tx => {
    const due = await tx
      .select({ order: orders, username: users.username, email: users.email })
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
    for (const { order, username, email } of due) {
      await tx.update(orders).set({ reminderSentAt: now }).where(eq(orders.id, order.id))
      await withUnit(tx, ctx.jobs, async unit =>
        enqueueMail(unit, {
          to: email,
          template: 'expiry-reminder',
          data: {
            username,
            order_id: order.orderId,
            product_name: `${order.productName} · ${order.variantName}`,
            proxies: order.deliveryNum,
            expires_at: iso(order.expiredAt ?? now),
            renew_url: `${ctx.config.publicUrl}/dashboard/index/proxies?renew=${order.id}`
          },
          key: `reminder:${order.id}:${iso(order.expiredAt ?? now).slice(0, 10)}`
        })
      )
    }
    return due.length
  })
}

/** Asks again for events that were recorded some time ago and whose job a dying process took with it. */
export async function resettle(ctx: AppContext): Promise<void> {
  const waiting = await ctx.db
    .select({ eventId: platformEvents.eventId })
    .from(platformEvents)
    .where(
      and(
        isNull(platformEvents.processedAt),
        eq(platformEvents.topic, 'orders/paid'),
        lt(platformEvents.receivedAt, new Date(ctx.now().getTime() - 5_000))
      )
    )
    .limit(BATCH)
  for (const { eventId } of waiting) await ctx.jobs.send(ctx.db, settleQueue, { eventId }, { key: eventId })
}
