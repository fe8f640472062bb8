import type { EventOutcome } from '@netlet/contract'
import { and, asc, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { attentionSentence } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import { MOST_FOUND, type NoticeFinder } from '../notices/index.ts'
import { orders } from '../orders/tables.ts'
import { isUnresolved } from './inbox.ts'

/**
 * Which notice an event shares with others: operators are told once of the payments of one customer that came to the same in
 * an hour of the clock, as `handleEvent` does. Null: it has one of its own.
 */
const sharedNotice = sql<string | null>`(case when ${platformEvents.topic} = 'orders/paid' then
  ${platformEvents.outcome} || ':' || ${orders.userId} || ':' || floor(extract(epoch from ${platformEvents.processedAt}) / 3600) end)`

/**
 * Which payments still wait for a decision. Operators were told of them as they came, besides those that came into an hour
 * that had a notice: it lasts until the last of them is decided, and where it ended before one came, that is told of here.
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
        // The first one is the one that its command tells of.
        .orderBy(sharedNotice, asc(platformEvents.processedAt), asc(platformEvents.id))
      const told = await db
        .select({
          subject: platformEvents.eventId,
          shared: sharedNotice,
          isOpen: sql<boolean>`${isUnresolved}`
        })
        .from(platformEvents)
        .leftJoin(orders, eq(orders.publicId, platformEvents.orderPublicId))
        .where(inArray(platformEvents.eventId, [...open]))
      const waits = new Set(waiting.map(({ shared }) => shared))
      const known = new Set(told.map(({ shared }) => shared))
      const lasting = told.filter(({ shared, isOpen }) => isOpen || waits.has(shared))
      // The others are told a minute later.
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
