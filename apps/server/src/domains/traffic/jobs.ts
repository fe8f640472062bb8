import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { collectServerTraffic, collectTraffic, serverTrafficQueue, trafficQueue } from './collect.ts'
import type { TrafficPorts } from './record.ts'

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
