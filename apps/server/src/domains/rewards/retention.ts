import { lt } from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { chatAccountPoints, chatEvents, chatPoints } from './tables.ts'

/** Points, coins and gift cards are money, so they are kept. Counters of chat messages are not. */
export const rewardsRetention: RetentionEntry[] = [
  {
    what: 'chat_reports',
    keep: { ms: 2 * DAY },
    why: 'Chat bot reports, so that none counts twice. Older ones are refused because of their age.',
    remove: (unit, before, limit) => removeRows(unit, chatEvents, lt(chatEvents.receivedAt, before), limit),
    count: db => countRows(db, chatEvents, chatEvents.receivedAt)
  },
  {
    what: 'chat_days',
    keep: { ms: 7 * DAY },
    why: "How many points a user's and a chat account's messages brought on a day, for the most that a day can bring.",
    async remove(unit, before, limit) {
      const day = iso(before).slice(0, 10)
      const removed = await removeRows(unit, chatPoints, lt(chatPoints.day, day), limit)
      return removed + (await removeRows(unit, chatAccountPoints, lt(chatAccountPoints.day, day), limit - removed))
    },
    count: db => countRows(db, chatPoints, chatPoints.day)
  }
]
