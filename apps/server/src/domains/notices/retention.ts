import { and, isNotNull, isNull, lt, ne } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { notices, noticeSends } from './tables.ts'

export const noticeRetention: RetentionEntry[] = [
  {
    what: 'notices',
    keep: { ms: 366 * DAY },
    why: 'Ended notices and their messages. While one is kept, the same occurrence opens no new notice.',
    async remove(unit, before, limit) {
      const removed = await removeRows(
        unit,
        notices,
        and(isNotNull(notices.closedAt), lt(notices.closedAt, before)),
        limit
      )
      const others = and(
        isNull(noticeSends.noticeId),
        lt(noticeSends.createdAt, before),
        ne(noticeSends.state, 'waiting')
      )
      return removed + (await removeRows(unit, noticeSends, others, limit))
    },
    count: db => countRows(db, notices, notices.createdAt)
  }
]
