import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import type { ConfirmPort } from './apply.ts'
import { convergeFailing, convergeHealthy } from './converge-turns.ts'
import { renewDenyLists } from './desired.ts'
import { checkServers } from './health.ts'
import { provisionServer } from './provision/provision.ts'
import {
  convergeFailingQueue,
  convergeQueue,
  denyListsQueue,
  healthQueue,
  provisionQueue,
  repairAllQueue,
  repairQueue
} from './queues.ts'
import { repairAll, repairServer } from './repair.ts'

/** How long a repair waits for another process that talks to the same agent. In milliseconds. */
const REPAIR_WAIT_MS = 10_000

/** @param confirm makes the port that lets orders go on with what an agent confirmed */
export const fleetJobs = ({ confirm }: { confirm: (ctx: AppContext) => ConfirmPort }): Job[] => [
  job(convergeQueue, {
    purpose: "Brings one server's agent to its desired state: its ranges, then its users.",
    // Most of them may wait for agents that do not answer any more, until that is found out.
    concurrency: 16,
    importance: 'urgent',
    // One that waits for a server's lock would keep a worker from another server.
    perGroup: 1,
    run: (ctx, { serverId }) => convergeHealthy(ctx, serverId, confirm(ctx))
  }),
  job(convergeFailingQueue, {
    purpose: 'The same for servers whose agents failed to answer, with growing pauses: no other server waits for them.',
    concurrency: 2,
    perGroup: 1,
    run: (ctx, { serverId }) => convergeFailing(ctx, serverId, confirm(ctx))
  }),
  job(healthQueue, {
    purpose: 'Asks every agent whether it is there; tells the administrators of one that stays away.',
    cron: '* * * * *',
    run: checkServers
  }),
  job(repairAllQueue, {
    purpose: 'Asks for the repair of every server.',
    cron: '*/3 * * * *',
    run: repairAll
  }),
  job(repairQueue, {
    purpose: 'Compares one agent with its desired state, and repairs the difference.',
    concurrency: 2,
    run: (ctx, { serverId }) => repairServer(ctx, serverId, REPAIR_WAIT_MS)
  }),
  job(provisionQueue, {
    purpose: "Installs a server's agent over SSH, or loads its ranges.",
    concurrency: 2,
    run: (ctx, work) => provisionServer(ctx, work, ctx.config.install)
  }),
  job(denyListsQueue, {
    purpose: 'Gives every agent its deny lists again, after an edit of the access rules.',
    run: renewDenyLists
  })
]
