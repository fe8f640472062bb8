import { and, asc, eq, inArray, lte } from 'drizzle-orm'
import type { AppContext } from '../../infra/context.ts'
import { unwantUsers } from '../fleet/index.ts'
import { LIVE_STATES, transition } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { advance } from './advance.ts'
import { sendLast } from './send-last.ts'
import { proxies } from './tables.ts'

const BATCH = 50

/**
 * Ends orders whose time is over: their users are taken off the agents at once, and once those have confirmed the
 * addresses return to stock.
 * @returns how many orders expired
 */
export async function expireOrders(ctx: Pick<AppContext, 'db' | 'jobs' | 'now'>): Promise<number> {
  let total = 0
  for (;;) {
    const some = await ctx.db.transaction(async tx => {
      const due = await tx
        .select()
        .from(orders)
        .where(and(inArray(orders.state, [...LIVE_STATES]), lte(orders.expiredAt, ctx.now())))
        .orderBy(asc(orders.expiredAt), asc(orders.id))
        .limit(BATCH)
        .for('update', { skipLocked: true })
      const jobs = sendLast(ctx.jobs)
      for (const order of due) {
        await transition(tx, order, 'expire', { task: null, taskId: null, taskAt: null })
        await tx.update(proxies).set({ state: 'retired', updatedAt: ctx.now() }).where(eq(proxies.orderId, order.id))
        await unwantUsers(tx, jobs, order.id)
      }
      // An order that no agent ever heard of gives its addresses back here and now.
      await advance(
        tx,
        { now: ctx.now, jobs },
        due.map(order => order.id)
      )
      await jobs.flush(tx)
      return due.length
    })
    total += some
    if (some < BATCH) return total
  }
}
