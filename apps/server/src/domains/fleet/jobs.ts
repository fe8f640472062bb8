import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import type { ConfirmPort } from './apply.ts'
import { convergeFailing, convergeHealthy } from './converge-turns.ts'
import { renewDenyLists } from './desired.ts'
import { checkServers } from './health.ts'
import { proveAccess, proveDue } from './proofs/prove.ts'
import {
  convergeFailingQueue,
  convergeQueue,
  denyListsQueue,
  healthQueue,
  limitsQueue,
  proveDueQueue,
  proveQueue,
  proxyNamesQueue,
  publicCertificateQueue,
  repairAllQueue,
  repairQueue
} from './queues.ts'
import { readPublicCertificate } from './public-certificate.ts'
import { resolveAllProxyNames, resolveProxyNames } from './proxy-tls/leads.ts'
import { repairAll, repairInTurn } from './repair.ts'
import { renewOrderLimits } from './order-limits.ts'

/** How long a repair waits for another process that talks to the same agent. In milliseconds. */
const REPAIR_WAIT_MS = 10_000

/**
 * @param ports.confirm makes the port that moves orders on once an agent has confirmed
 * @param ports.probeMs how soon a healthy agent must answer; only tests set it
 */
export const fleetJobs = ({
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
  job(publicCertificateQueue, {
    purpose: 'Looks which certificate visitors of the shop are shown, and when it ends.',
    cron: '23 * * * *',
    importance: 'background',
    run: readPublicCertificate
  }),
  job(proxyNamesQueue, {
    purpose:
      "Looks where the host names of servers' certificates lead: customers are shown those that lead to their proxies.",
    cron: '*/10 * * * *',
    importance: 'background',
    run: (ctx, { serverId }) => (serverId === undefined ? resolveAllProxyNames(ctx) : resolveProxyNames(ctx, serverId))
  }),
  job(repairAllQueue, {
    purpose: 'Asks for the repair of every server.',
    cron: '*/3 * * * *',
    run: repairAll
  }),
  job(repairQueue, {
    purpose: 'Compares one agent with its desired state, and repairs the difference.',
    concurrency: 2,
    run: (ctx, { serverId }) => repairInTurn(ctx, serverId, REPAIR_WAIT_MS)
  }),
  job(limitsQueue, {
    purpose: "Gives an order's limits to its agents, after a renewal or its refund changed them.",
    importance: 'urgent',
    run: (ctx, { orderId }) => renewOrderLimits(ctx, orderId)
  }),
  job(proveQueue, {
    purpose: "Tries credentials at a server's proxies: old ones have to be refused, new ones to reach the check site.",
    concurrency: 4,
    importance: 'background',
    perGroup: 1,
    run: (ctx, { serverId }) => proveAccess(ctx, serverId)
  }),
  job(proveDueQueue, {
    purpose: 'Asks for tries of credentials that are due, of every server.',
    cron: '* * * * *',
    run: proveDue
  }),
  job(denyListsQueue, {
    purpose: 'Gives every agent its deny lists again, after an edit of the access rules.',
    run: renewDenyLists
  })
]
