import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { URGENT, queue } from '../../infra/jobs.ts'
import { agentOf, markFailing, type SyncContext, readServerRow, type ServerRow } from '../servers/index.ts'
import type { ConfirmPort } from './apply-user.ts'
import { AgentCallFailed, convergeServer } from './converge.ts'

/**
 * Retries agents that failed to answer or to take a change. After a failure the job sends the next one itself, with a
 * pause. The sweep (delivery/advance.ts) asks again if a killed process left a server behind.
 */
export const convergeFailingQueue = queue<{ serverId: number }>('converge-failing-server', {
  retryLimit: 2,
  retryDelay: 5,
  deleteAfterSeconds: 3600
})

/** An agent that is up answers within this time. In milliseconds. */
const PROBE_MS = 3_000
/** An agent seen this recently is not probed before its changes. In milliseconds. */
const SEEN_MS = 5_000
/** The limit in milliseconds of each call to a healthy agent, so that a slow one delays no other server. */
const HEALTHY_CALL_MS = 5_000
/** Agents that this process works on at once. */
const CONVERGING_AT_ONCE = 4

const converging = pLimit(CONVERGING_AT_ONCE)

/**
 * Converges a server that was fine last time. If it fails, other servers wait for one time-out only: from then on the
 * workers for failing servers retry it, until it succeeds.
 */
export async function convergeHealthy(
  ctx: SyncContext,
  serverId: number,
  confirm: ConfirmPort,
  probeMs = PROBE_MS
): Promise<void> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return
  const suspect = server.failingSince !== null || server.unreachableSince !== null
  const work = () => converging(() => convergeServer(ctx, serverId, confirm, HEALTHY_CALL_MS))
  if (suspect || !(await tryAgent(ctx, server, work, probeMs))) await scheduleNextTry(ctx, serverId)
}

/** Tries a failing server, if its pause is over. */
export async function convergeFailing(ctx: SyncContext, serverId: number, confirm: ConfirmPort): Promise<void> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return
  const early = server.nextTryAt !== null && server.nextTryAt > ctx.now()
  const work = () => convergeServer(ctx, serverId, confirm)
  if (early || !(await tryAgent(ctx, server, work))) await scheduleNextTry(ctx, serverId)
}

/** @returns false if the agent failed; the failure is recorded */
async function tryAgent(
  ctx: SyncContext,
  server: ServerRow,
  work: () => Promise<void>,
  probeMs = PROBE_MS
): Promise<boolean> {
  const { id } = server
  if (!wasJustSeen(ctx, server)) {
    // The probe holds no lock and no database connection, so an agent that is away costs only the probe's time.
    const probe = await agentOf(server, ctx.secrets, probeMs).info()
    if (!probe.ok) {
      await command(ctx, SYSTEM, unit => markFailing(unit, id, probe.message))
      return false
    }
  }
  try {
    await work()
    return true
  } catch (error) {
    if (!(error instanceof AgentCallFailed)) throw error
    ctx.log.warn({ err: error, server: id }, 'agent failed, it will be tried again')
    return false
  }
}

/** If the clock was set back since, nothing counts as recent. */
function wasJustSeen(ctx: SyncContext, { failingSince, lastSeenAt }: ServerRow): boolean {
  if (failingSince !== null || lastSeenAt === null) return false
  const ago = ctx.now().getTime() - lastSeenAt.getTime()
  return ago >= 0 && ago < SEEN_MS
}

/** Keeps one job waiting for each server: until its next try, or no time at all if it has just come back. */
async function scheduleNextTry(ctx: SyncContext, serverId: number): Promise<void> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return
  const group = String(serverId)
  const startIn = server.nextTryAt === null ? 0 : server.nextTryAt.getTime() - ctx.now().getTime()
  await command(ctx, SYSTEM, async unit => {
    if (startIn <= 0) return enqueueTry(unit, serverId)
    unit.jobs.send(convergeFailingQueue, { serverId }, { key: group, group, startIn })
  })
}

/** Tries a failing server at once. Its key differs from that of the job that waits for the next try. */
export function enqueueTry(unit: Unit, serverId: number): void {
  const group = String(serverId)
  unit.jobs.send(convergeFailingQueue, { serverId }, { key: `${group}:now`, group, priority: URGENT })
}
