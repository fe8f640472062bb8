import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { readServerTraffic } from './read.ts'
import { job, type Job } from '../../infra/job.ts'
import { collectServerTraffic, collectTraffic, serverTrafficQueue, trafficQueue } from './collect.ts'
import type { TrafficPorts } from './record.ts'
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

export { readOrdersTraffic } from './read.ts'
export type { TrafficPorts } from './record.ts'

export function trafficRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.fleet.traffic, async ({ params, query }) =>
    ok(await readServerTraffic(ctx.db, params.id, { ...query, now: ctx.now() }))
  )
}

/** @param ports makes what finds the order of each traffic row, and informs customers of quotas */
export const trafficJobs = (ports: (ctx: AppContext) => TrafficPorts): Job[] => [
  job(trafficQueue, {
    purpose: "Schedules the collection of every server's traffic counters, spread over 1 minute.",
    cron: '* * * * *',
    run: collectTraffic
  }),
  job(serverTrafficQueue, {
    purpose: 'Collects changed traffic counters from one agent, and adds them up by hour and day.',
    // A slow agent takes up to half a minute, and must not keep the others from being counted.
    concurrency: 8,
    perGroup: 1,
    importance: 'background',
    run: (ctx, { serverId }) => collectServerTraffic(ctx, serverId, ports(ctx))
  })
]

const HOURS_KEPT = 30 * DAY
const DAYS_KEPT = 2 * 366 * DAY

export const trafficRetention: RetentionEntry[] = [
  {
    what: 'traffic_hours',
    keep: { ms: HOURS_KEPT },
    why: 'Hourly traffic of each proxy, order and server, for the charts of recent weeks.',
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
