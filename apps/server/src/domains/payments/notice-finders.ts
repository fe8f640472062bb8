import { and, inArray } from 'drizzle-orm'
import { platformEvents } from '../commerce/tables.ts'
import type { NoticeFinder } from '../notices/index.ts'
import { isUnresolved } from './inbox.ts'

/** Which payments still wait for a decision, of those that operators were told of as they came. */
export const paymentFinders: NoticeFinder[] = [
  {
    cause: 'payment',
    every: 1,
    async find({ db }, { open }) {
      if (open.length === 0) return []
      const rows = await db
        .select({ subject: platformEvents.eventId })
        .from(platformEvents)
        .where(and(inArray(platformEvents.eventId, [...open]), isUnresolved))
      return rows
    }
  }
]
