import { STATUS_DAYS } from '@netlet/contract'
import { and, lt } from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { isUnconfirmed, UNCONFIRMED_FOR } from './subscribers.ts'
import { statusDays, statusSubscribers } from './tables.ts'

export const statusRetention: RetentionEntry[] = [
  {
    what: 'status_days',
    keep: { ms: STATUS_DAYS * DAY },
    why: 'Uptime of each server per day, shown as bars on the status page.',
    remove: (unit, before, limit) => removeRows(unit, statusDays, lt(statusDays.day, iso(before).slice(0, 10)), limit),
    count: db => countRows(db, statusDays, statusDays.day)
  },
  {
    what: 'status_subscribers',
    keep: { ms: UNCONFIRMED_FOR },
    why: 'Subscribers to incident emails who did not confirm their address. Confirmed ones stay until they unsubscribe.',
    remove: (unit, before, limit) =>
      removeRows(unit, statusSubscribers, and(isUnconfirmed, lt(statusSubscribers.askedAt, before)), limit),
    count: db => countRows(db, statusSubscribers, statusSubscribers.askedAt, isUnconfirmed)
  }
]
