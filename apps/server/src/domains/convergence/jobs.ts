import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { convergeQueue, repairQueue } from '../servers/index.ts'
import type { ConfirmPort } from './apply-user.ts'
import { checkServers } from './check-servers.ts'
import { convergeFailing, convergeHealthy, convergeFailingQueue } from './converge-turns.ts'
import { repairAll, repairInTurn } from './repair.ts'
import { queue } from '../../infra/jobs.ts'

/** Each minute: checks every agent's health. */
const healthQueue = queue<object>('check-servers', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Every few minutes: asks for the repair of each server. */
const repairAllQueue = queue<object>('repair-fleet', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** How long a repair waits for another process that talks to the same agent. In milliseconds. */
const REPAIR_WAIT_MS = 10_000

/**
 * @param ports.confirm makes the port that moves orders on once an agent has confirmed
 * @param ports.probeMs how soon a healthy agent must answer; only tests set it
 */
export const convergenceJobs = ({
  confirm,
  probeMs
}: {
  confirm: (ctx: AppContext) => ConfirmPort
  probeMs?: number
}): Job[] => [
  job(convergeQueue, {
    purpose: "Brings one server's agent to its desired state: its ranges, then its users.",
    // Most of them may wait for agents that have just stopped answering.
    concurrency: 16,
    importance: 'urgent',
    // A second job of a server would wait for its lock and occupy a worker.
    perGroup: 1,
    run: (ctx, { serverId }) => convergeHealthy(ctx, serverId, confirm(ctx), probeMs)
  }),
  job(convergeFailingQueue, {
    purpose:
      'Does the same for servers whose agents do not answer, at growing intervals, so that other servers do not wait.',
    concurrency: 2,
    perGroup: 1,
    run: (ctx, { serverId }) => convergeFailing(ctx, serverId, confirm(ctx))
  }),
  job(healthQueue, {
    purpose: 'Checks whether every agent answers, and notifies operators about those that do not.',
    cron: '* * * * *',
    run: checkServers
  }),
  job(repairAllQueue, {
    purpose: 'Schedules a repair of every server.',
    cron: '*/3 * * * *',
    run: repairAll
  }),
  job(repairQueue, {
    purpose: 'Compares one agent with its desired state, and repairs the differences.',
    concurrency: 2,
    run: (ctx, { serverId }) => repairInTurn(ctx, serverId, REPAIR_WAIT_MS)
  })
]
