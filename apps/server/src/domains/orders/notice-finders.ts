import { and, inArray, isNotNull, lt, sql } from '../../infra/db/drizzle.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import type { NoticeFinder } from '../notices/index.ts'
import { listed, orders, undelivered } from './tables.ts'

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
