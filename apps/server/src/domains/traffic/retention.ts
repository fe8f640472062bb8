import { and, lt, notExists, sql } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { agentUsers } from '../servers/tables.ts'
import {
  orderTrafficDays,
  orderTrafficHours,
  serverTrafficDays,
  serverTrafficHours,
  trafficDays,
  trafficHours,
  trafficMarks
} from './tables.ts'

const HOURS_KEPT = 30 * DAY
const DAYS_KEPT = 2 * 366 * DAY

export const trafficRetention: RetentionEntry[] = [
  {
    what: 'traffic_hours',
    keep: { ms: HOURS_KEPT },
    why: 'Traffic of each proxy, order and server by hour, for the charts of the last weeks.',
    remove: async (unit, before, limit) =>
      (await removeRows(unit, trafficHours, lt(trafficHours.at, before), limit)) +
      (await removeRows(unit, orderTrafficHours, lt(orderTrafficHours.at, before), limit)) +
      (await removeRows(unit, serverTrafficHours, lt(serverTrafficHours.at, before), limit)),
    count: db => countRows(db, trafficHours, trafficHours.at)
  },
  {
    what: 'traffic_days',
    keep: { ms: DAYS_KEPT },
    why: "Daily traffic, for customers' questions and growth figures.",
    remove: async (unit, before, limit) =>
      (await removeRows(unit, trafficDays, lt(trafficDays.at, before), limit)) +
      (await removeRows(unit, orderTrafficDays, lt(orderTrafficDays.at, before), limit)) +
      (await removeRows(unit, serverTrafficDays, lt(serverTrafficDays.at, before), limit)),
    count: db => countRows(db, trafficDays, trafficDays.at)
  },
  {
    what: 'traffic_marks',
    keep: { ms: HOURS_KEPT },
    why: 'The last counters of users deleted from an agent, which forgets them after 1 day. Counters of current users are kept, so that traffic is not counted twice.',
    remove: (unit, before, limit) =>
      removeRows(
        unit,
        trafficMarks,
        and(
          lt(trafficMarks.changedAt, before),
          notExists(
            unit.tx
              .select({ one: sql`1` })
              .from(agentUsers)
              .where(
                sql`${agentUsers.serverId} = ${trafficMarks.serverId} and ${agentUsers.username} = ${trafficMarks.username}`
              )
          )
        ),
        limit
      ),
    count: db => countRows(db, trafficMarks, trafficMarks.changedAt)
  }
]
