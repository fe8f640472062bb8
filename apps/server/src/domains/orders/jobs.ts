import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { remindExpiries } from './remind.ts'
import { foldFigures } from './figures.ts'
import { timeOutOrders } from './time-out.ts'
import { and, inArray, isNotNull, lt, not, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { forgetLeases } from '../inventory/index.ts'
import { CHECKOUT_KEYS_KEPT } from './checkout-keys.ts'
import { isPause } from './renew.ts'
import { checkoutKeys, listed, orderEvents, orders, undelivered } from './tables.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import type { NoticeFinder } from '../notices/index.ts'

const timeOutQueue = queue<object>('time-out-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })

const remindQueue = queue<object>('remind-expiries', { retryLimit: 2, deleteAfterSeconds: 3600 })

const foldFiguresQueue = queue<object>('fold-order-figures', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const orderJobs: Job[] = [
  job(foldFiguresQueue, {
    purpose: 'Adds changed order figures to their days.',
    cron: '* * * * *',
    run: ctx => foldFigures(ctx)
  }),
  job(timeOutQueue, {
    purpose: 'Frees the addresses of orders that are not fully paid in time.',
    cron: '* * * * *',
    run: ctx => timeOutOrders(ctx)
  }),
  job(remindQueue, {
    purpose: 'Emails customers before an order expires: some days before, and on the last day.',
    cron: '7,27,47 * * * *',
    run: ctx => remindExpiries(ctx)
  })
]

export const orderRetention: RetentionEntry[] = [
  {
    what: 'order_events',
    keep: { setting: 'keep_order_history_days' },
    why: 'The history of orders. Payments, leases and the orders themselves are kept. So are the gaps between an expiry and a late renewal, because outages in them earn no credit.',
    remove: (unit, before, limit) =>
      removeRows(unit, orderEvents, and(lt(orderEvents.at, before), not(isPause)), limit),
    count: db => countRows(db, orderEvents, orderEvents.at)
  },
  {
    what: 'checkout_keys',
    keep: { ms: CHECKOUT_KEYS_KEPT },
    why: 'Replies to checkouts with an Idempotency-Key. A later repeat creates a new order.',
    remove: (unit, before, limit) => removeRows(unit, checkoutKeys, lt(checkoutKeys.createdAt, before), limit),
    count: db => countRows(db, checkoutKeys, checkoutKeys.createdAt)
  }
]

/** Removes locked orders that were never paid, with their history and their released leases. */
export async function removeUnpaidOrders(unit: Unit, ids: number[]): Promise<void> {
  await unit.tx.delete(orderEvents).where(inArray(orderEvents.orderId, ids))
  await forgetLeases(unit.tx, ids)
  await unit.tx.delete(orders).where(inArray(orders.id, ids))
}

export const orderFinders: NoticeFinder[] = [
  {
    cause: 'undelivered',
    every: 1,
    async find({ db }, { now, threshold }) {
      const before = new Date(now.getTime() - threshold * MINUTE)
      const late = and(sql`${listed(orders)} and ${undelivered(orders)}`, lt(orders.paidAt, before))
      const [found] = await db
        .select({ count: sql<number>`count(*)::int`, since: sql<string | null>`min(${orders.paidAt})::timestamptz` })
        .from(orders)
        .where(late)
      if (!found?.since || found.count === 0) return []
      const since = new Date(found.since)
      const params = { count: found.count, minutes: threshold, since: iso(since) }
      return [{ subject: '', words: 'undelivered', params, count: found.count, since }]
    }
  },
  {
    cause: 'order_trouble',
    every: 1,
    complete: true,
    async find({ db }, { open }) {
      const ids = open.map(Number).filter(Number.isSafeInteger)
      if (ids.length === 0) return []
      const lasting = and(inArray(orders.id, ids), isNotNull(orders.failCode), sql`${listed(orders)}`)
      const rows = await db.select({ id: orders.id }).from(orders).where(lasting)
      return rows.map(({ id }) => ({ subject: String(id) }))
    }
  }
]
