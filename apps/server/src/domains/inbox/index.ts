import { type EventOutcome, routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { mountList } from '../../infra/list/index.ts'
import { findEntryDetail, inboxList, isUnresolved } from './inbox.ts'
import { applyPayment, ignorePayment, markRefunded, planDecision } from './resolve.ts'
import { and, asc, eq, inArray, isNotNull, sql } from '../../infra/db/drizzle.ts'
import { attentionSentence } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import { MOST_FOUND, type NoticeFinder } from '../notices/index.ts'
import { orders } from '../orders/tables.ts'

/**
 * Lists the platform's money events that wait for an administrator, shows what each decision would do, and applies it.
 * It owns no table: `commerce` owns the events, and `payments` writes what a decision does.
 */
export { countUnresolvedEvents, hasOpenMoney, isUnresolved } from './inbox.ts'
export { settlePaidOrder, unlessForOthers } from './settle-paid-order.ts'
export { unpaidRetention } from './unpaid-orders.ts'

export function inboxRoutes(mount: Mount, ctx: AppContext): void {
  const { payments } = routes
  mountList(mount, ctx, payments.inbox, () => inboxList({ now: ctx.now() }))
  mount(payments.inboxEntry, ({ params }) => findEntryDetail(ctx.db, params.id))
  mount(payments.plan, ({ params, caller, query }) => planDecision(ctx, caller, params.id, query))
  mount(payments.apply, ({ params, caller, body }) => applyPayment(ctx, caller, params.id, body))
  mount(payments.markRefunded, ({ params, caller, body }) => markRefunded(ctx, caller, params.id, body))
  mount(payments.ignore, ({ params, caller, body }) => ignorePayment(ctx, caller, params.id, body))
}

/**
 * The key of a notice that events share: payments of one customer with the same outcome in the same clock hour, as in
 * `handleEvent`. Null: the event has its own notice.
 */
const sharedNotice = sql<string | null>`(case when ${platformEvents.topic} = 'orders/paid' then
  ${platformEvents.outcome} || ':' || ${orders.userId} || ':' || floor(extract(epoch from ${platformEvents.processedAt}) / 3600) end)`

/**
 * Finds payments that wait for a decision. A payment raises its notice when it comes, unless its hour already has one.
 * It lasts until the hour's last payment is decided. If it ended before a later payment came, this raises another.
 */
export const paymentFinders: NoticeFinder[] = [
  {
    cause: 'payment',
    every: 1,
    complete: true,
    async find({ db }, { open }) {
      const waiting = await db
        .selectDistinctOn([sharedNotice], {
          subject: platformEvents.eventId,
          shared: sharedNotice,
          outcome: sql<EventOutcome>`${platformEvents.outcome}`,
          detail: platformEvents.detail,
          order: platformEvents.platformOrderName,
          since: platformEvents.processedAt
        })
        .from(platformEvents)
        .innerJoin(orders, eq(orders.publicId, platformEvents.orderPublicId))
        .where(and(isUnresolved, isNotNull(sharedNotice)))
        // The command that raised the notice did so for the oldest event.
        .orderBy(sharedNotice, asc(platformEvents.processedAt), asc(platformEvents.id))
      const found = await db
        .select({
          subject: platformEvents.eventId,
          shared: sharedNotice,
          isOpen: sql<boolean>`${isUnresolved}`
        })
        .from(platformEvents)
        .leftJoin(orders, eq(orders.publicId, platformEvents.orderPublicId))
        .where(inArray(platformEvents.eventId, [...open]))
      const waits = new Set(waiting.map(({ shared }) => shared))
      const known = new Set(found.map(({ shared }) => shared))
      const lasting = found.filter(({ shared, isOpen }) => isOpen || waits.has(shared))
      // The next run, a minute later, finds the others.
      const untold = waiting.filter(({ shared }) => !known.has(shared)).slice(0, MOST_FOUND)
      return [
        ...lasting.map(({ subject }) => ({ subject })),
        ...untold.map(({ subject, outcome, detail, order, since }) => {
          const result = { outcome, ...(detail ? { detail } : {}) }
          const reason = attentionSentence(result) ?? '–'
          const params = { reason, reason_zh: attentionSentence(result, 'zh-CN') ?? reason, order: order ?? 'unknown' }
          return { subject, words: 'payments' as const, params, since }
        })
      ]
    }
  }
]
