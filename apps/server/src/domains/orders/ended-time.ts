/** What is known of the time of an order that has ended. */
import { iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { OrderRow } from './transition.ts'

/** What of its time an order that has ended was not served, in milliseconds. */
export const unservedTime = ({ state, endedAt, expiredAt }: OrderRow): number =>
  (state === 'expired' || state === 'refunded') && endedAt && expiredAt
    ? Math.max(0, expiredAt.getTime() - endedAt.getTime())
    : 0

/** When the order ended and is served again, for its history: what it lost in between was lost by no outage. */
export const pauseOf = ({ now }: Unit, { expiredAt, endedAt }: OrderRow) =>
  expiredAt && endedAt
    ? { ended_at: iso(new Date(Math.min(expiredAt.getTime(), endedAt.getTime()))), resumed_at: iso(now) }
    : {}
