import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { collectServerTraffic, collectTraffic, serverTrafficQueue, trafficQueue } from './collect.ts'
import type { TrafficPorts } from './record.ts'

/** @param ports makes what finds the order of each traffic row, and informs customers of quotas */
export const trafficJobs = (ports: (ctx: AppContext) => TrafficPorts): Job[] => [
  job(trafficQueue, {
    purpose: 'Has the traffic counters of every server fetched, spread over the minute.',
    cron: '* * * * *',
    run: collectTraffic
  }),
  job(serverTrafficQueue, {
    purpose: "Fetches what changed of one agent's traffic counters, and adds it up by hour and day.",
    // A slow agent takes up to half a minute, and must not keep the others from being counted.
    concurrency: 8,
    perGroup: 1,
    importance: 'background',
    run: (ctx, { serverId }) => collectServerTraffic(ctx, serverId, ports(ctx))
  })
]
