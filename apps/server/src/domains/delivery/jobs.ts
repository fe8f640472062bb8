import { job, type Job } from '../../infra/job.ts'
import { checkJobs } from './checks/index.ts'
import { endGraces, expireOrders } from './expire.ts'
import {
  checkTaskQueue,
  deliveredQueue,
  expireQueue,
  graceQueue,
  orderTaskQueue,
  rescueQueue,
  sweepQueue
} from './queues.ts'
import { rescueOrders } from './servers/index.ts'
import { sweep } from './advance.ts'
import { type DeliveryPorts, runTask } from './tasks.ts'
import { and, desc, eq, exists, gt, lt, notExists, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { deliverySeconds } from '../../infra/metrics.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { enqueueTags } from '../commerce/index.ts'
import { enqueueMail } from '../mail/index.ts'
import { isServed, orderMailColumns, orderMailFrom } from '../orders/index.ts'
import { orderEvents, orders } from '../orders/tables.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { leases } from '../inventory/tables.ts'
import { outageCredits, proxies } from './tables.ts'

/** Informs the customer and the platform that an order's proxies work. */
export async function announceDelivery(ctx: AppContext, orderId: number): Promise<void> {
  const seconds = await command(ctx, SYSTEM, async unit => {
    const [row] = await unit.tx
      .select({ order: orders, about: orderMailColumns })
      .from(orders)
      .innerJoin(users, eq(users.id, orders.userId))
      .where(eq(orders.id, orderId))
    if (!row) return null
    const { order, about } = row
    // It was given back, or has ended.
    if (!isServed(order.state)) return null
    const mail = orderMailFrom(about)
    const [delivery] = await unit.tx
      .select({ id: orderEvents.id })
      .from(orderEvents)
      .where(and(eq(orderEvents.orderId, orderId), eq(orderEvents.kind, 'deliver_all')))
      .orderBy(desc(orderEvents.id))
      .limit(1)
    enqueueMail(unit, {
      ...mail,
      template: 'proxies-delivered',
      data: {
        ...mail.data,
        proxies: order.deliveryNum,
        expires_at: iso(order.expiredAt ?? unit.now),
        dashboard_url: `${ctx.config.publicUrl}/dashboard/index/proxies`
      },
      // A revived order is announced again, even if it ends at the same instant as before.
      key: `delivered:${order.id}:${delivery?.id ?? iso(order.expiredAt ?? unit.now)}`
    })
    const { platformOrderId } = order
    if (platformOrderId) enqueueTags(unit, { platformOrderId, tags: ['delivered'] }, 'delivered')
    const { paidAt, deliveredAt } = order
    return paidAt && deliveredAt ? (deliveredAt.getTime() - paidAt.getTime()) / 1000 : null
  })
  if (seconds !== null) deliverySeconds.observe(Math.max(0, seconds))
}

export const deliveryJobs = (ports: DeliveryPorts): Job[] => [
  job(orderTaskQueue, {
    purpose: 'Runs a requested order action: new addresses, a new password, or missing deliveries.',
    concurrency: 4,
    importance: 'urgent',
    perGroup: 1,
    run: (ctx, task) => runTask(ctx, ports, task)
  }),
  job(checkTaskQueue, {
    purpose: "Checks an order's proxies on request, for 5 seconds at a time.",
    concurrency: 4,
    perGroup: 1,
    run: (ctx, task) => runTask(ctx, ports, task)
  }),
  job(deliveredQueue, {
    purpose: 'Informs the customer and the platform when all proxies of an order work.',
    importance: 'background',
    run: (ctx, { orderId }) => announceDelivery(ctx, orderId)
  }),
  job(expireQueue, {
    purpose: 'Ends expired orders: their proxies stop, and their addresses stay reserved for the grace period.',
    cron: '* * * * *',
    run: expireOrders
  }),
  job(graceQueue, {
    purpose: 'Frees the addresses of expired orders that were not renewed in the grace period.',
    cron: '* * * * *',
    run: endGraces
  }),
  job(sweepQueue, {
    purpose: 'Resumes agents that are behind, stalled deliveries, and order actions whose job was lost.',
    cron: '* * * * *',
    atStart: true,
    run: sweep
  }),
  job(rescueQueue, {
    purpose:
      'Moves waiting orders from unreachable servers to other addresses, and moves orders off servers that were given up.',
    cron: '* * * * *',
    run: ctx => rescueOrders(ctx)
  }),
  ...checkJobs
]

const isRetired = sql`${proxies.state} = 'retired'`

export const deliveryRetention: RetentionEntry[] = [
  {
    what: 'retired_proxies',
    keep: { setting: 'keep_retired_proxies_days' },
    why: 'Addresses that orders no longer hold. Leases are kept and show who held an address when. Those of an order with an outage credit stay until that long after its end.',
    remove: (unit, before, limit) =>
      removeRows(
        unit,
        proxies,
        and(
          isRetired,
          lt(proxies.updatedAt, before),
          // Later credits of the order are computed from these addresses.
          notExists(
            unit.tx
              .select({ one: sql`1` })
              .from(outageCredits)
              .innerJoin(orders, eq(orders.id, outageCredits.orderId))
              .where(
                and(
                  eq(outageCredits.orderId, proxies.orderId),
                  gt(sql`greatest(${orders.expiredAt}, ${orders.endedAt})`, before)
                )
              )
          ),
          // Until its lease has been released, its delivery or withdrawal is not over.
          exists(
            unit.tx
              .select({ one: sql`1` })
              .from(leases)
              .where(and(eq(leases.id, proxies.leaseId), eq(leases.state, 'released')))
          )
        ),
        limit
      ),
    count: db => countRows(db, proxies, proxies.updatedAt, isRetired)
  }
]
