import { refuse, routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { acknowledgeAlarm, listAlarms } from './abuse-alarms.ts'
import {
  applyRemovals,
  endConnections,
  flushAccessLog,
  followLog,
  listAcl,
  liveConnections,
  requestApi,
  resetAllProxy,
  serverInfo
} from './manage-agent.ts'
import { createUserByPrefix, deleteAllUsers, deleteProxyUser } from './manage-users.ts'
import { checkIpv6 } from './agent-calls.ts'
import { rotateToken } from './rotate-token.ts'
import { approvePlan, findRepairPlan, takeOver } from './ownership/decide.ts'
import { job, type Job } from '../../infra/job.ts'
import { convergeQueue, repairQueue } from '../servers/index.ts'
import type { ConfirmPort } from './apply-user.ts'
import { checkServers } from './check-servers.ts'
import { convergeFailing, convergeFailingQueue, convergeHealthy } from './converge-retries.ts'
import { repairAll, repairUnderLock } from './repair.ts'
import { queue } from '../../infra/jobs.ts'

/**
 * Talking to agents: bringing them to what they should hold, comparing and repairing them, whose they are, their health,
 * and what operators do on them (docs/FLEET.md). It owns agent_ties, console_identity and abuse_alarms. Other domains set
 * what an order's user should hold (`setDesiredUsers`). A port moves orders on once an agent has confirmed
 * (`ConfirmPort`).
 */
export { countOpenAlarms, abuseFinder, alarmRetention } from './abuse-alarms.ts'
export type { ConfirmPort } from './apply-user.ts'
export { tryProxy } from './doubtful-proxies.ts'
export { LEVELS, type ProxyLevel } from './check-proxy.ts'
export { checkServers } from './check-servers.ts'
export { convergeServer } from './converge.ts'
export { readUnknownUsers } from './unknown-users.ts'
export { sendRanges } from './send-ranges.ts'
export { claimAgent, readConsole, recordForeignOwner } from './ownership/claim-agent.ts'
export { dropDesiredUser, setDesiredUsers } from './manage-users.ts'

export function convergenceRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet } = routes
  mount(fleet.live, call => liveConnections(ctx, call.params.id, call.query.user))
  mount(fleet.endConnections, call => endConnections(ctx, call.caller, call.params.id, call.body))
  mount(fleet.followLog, ({ params, query: { after_line: after, http_status: status, ...query } }) =>
    followLog(ctx, params.id, { ...query, after, status })
  )
  mount(fleet.checkIpv6, call =>
    checkIpv6(ctx, call.params.id, call.body?.target ?? '', Object.values(ctx.config.checkSites))
  )
  mount(fleet.alarms, async call => ok(await listAlarms(ctx.db, call.query)))
  mount(fleet.acknowledgeAlarm, call => acknowledgeAlarm(ctx, call.caller, call.params.id))
  mount(fleet.createUserByPrefix, async call => {
    // Scripts also send the server's id in the body. If it differs from the path's, that is a mistake.
    if (call.body.id !== undefined && call.body.id !== call.params.id) return refuse('bad_request')
    return createUserByPrefix(ctx, call.caller, call.params.id, call.body)
  })
  mount(fleet.deleteUser, call => deleteProxyUser(ctx, call.caller, call.params.id, call.body.username))
  mount(fleet.deleteAllUser, call => deleteAllUsers(ctx, call.caller, call.params.id))
  mount(fleet.resetAllProxy, call => resetAllProxy(ctx, call.caller, call.params.id, call.body.cidrs))
  mount(fleet.flushAccessLog, call => flushAccessLog(ctx, call.caller, call.params.id))
  mount(fleet.listAcl, call => listAcl(ctx, call.params.id))
  mount(fleet.serverInfo, call => serverInfo(ctx, call.caller, call.params.id))
  mount(fleet.requestApi, call => requestApi(ctx, call.caller, call.params.id, call.body))
  mount(fleet.repairPlan, call => findRepairPlan(ctx.db, call.params.id))
  mount(fleet.approvePlan, call => approvePlan(ctx, call.caller, call.params.id, call.body.digest))
  mount(fleet.takeOver, call => takeOver(ctx, call.caller, call.params.id, call.body.owner))
  mount(fleet.rotateToken, call => rotateToken(ctx, call.caller, call.params.id))
  mount(fleet.applyRemovals, call => applyRemovals(ctx, call.caller, call.params.id))
}

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
    purpose: 'Brings a failing agent to its desired state, at growing intervals, so that other servers do not wait.',
    concurrency: 2,
    perGroup: 1,
    run: (ctx, { serverId }) => convergeFailing(ctx, serverId, confirm(ctx))
  }),
  job(healthQueue, {
    purpose: 'Checks whether every agent responds, and notifies operators about those that do not.',
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
    run: (ctx, { serverId }) => repairUnderLock(ctx, serverId, REPAIR_WAIT_MS)
  })
]
