import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { URGENT } from '../../infra/jobs.ts'
import { agentOf, markFailing, type SyncContext } from './agents.ts'
import type { ConfirmPort } from './apply.ts'
import { AgentUnreachable, convergeServer } from './converge.ts'
import { convergeFailingQueue } from './queues.ts'
import { readServerRow, type ServerRow } from './server-row.ts'

/** How soon an agent that is there says so. In milliseconds. */
const PROBE_MS = 3_000
/** An agent that answered so recently is not asked for a sign of life before its changes. In milliseconds. */
const SEEN_MS = 5_000
/** For each call to an agent that was fine the last time: where it takes longer, no other server waits. In milliseconds. */
const HEALTHY_CALL_MS = 5_000
/** Agents that this process works on at once: each takes a database connection, for the server's lock. */
export const CONVERGING_AT_ONCE = 4

const converging = pLimit(CONVERGING_AT_ONCE)

/**
 * Converges a server that was fine the last time. Others wait for it no longer than for one time-out: it is then among
 * those that fail, which have workers of their own, and comes back from there with its first success.
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
  if (suspect || !(await tryAgent(ctx, server, work, probeMs))) await sendNextTry(ctx, serverId)
}

/** Tries a server whose last try failed, where its pause is over. */
export async function convergeFailing(ctx: SyncContext, serverId: number, confirm: ConfirmPort): Promise<void> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return
  const early = server.nextTryAt !== null && server.nextTryAt > ctx.now()
  const work = () => convergeServer(ctx, serverId, confirm)
  if (early || !(await tryAgent(ctx, server, work))) await sendNextTry(ctx, serverId)
}

/** @returns false where the agent failed; that is recorded */
async function tryAgent(
  ctx: SyncContext,
  server: ServerRow,
  work: () => Promise<void>,
  probeMs = PROBE_MS
): Promise<boolean> {
  const { id } = server
  if (!wasJustSeen(ctx, server)) {
    // Without the lock and its connection: where nothing answers, this is all that is waited for.
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
    if (!(error instanceof AgentUnreachable)) throw error
    ctx.log.warn({ err: error, server: id }, 'agent failed, it will be tried again')
    return false
  }
}

/** A clock that was set back since makes nothing recent. */
function wasJustSeen(ctx: SyncContext, { failingSince, lastSeenAt }: ServerRow): boolean {
  if (failingSince !== null || lastSeenAt === null) return false
  const ago = ctx.now().getTime() - lastSeenAt.getTime()
  return ago >= 0 && ago < SEEN_MS
}

/** One job waits for each server: at its time, or where the server has just come back, at once. */
async function sendNextTry(ctx: SyncContext, serverId: number): Promise<void> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return
  const group = String(serverId)
  const startIn = server.nextTryAt === null ? 0 : server.nextTryAt.getTime() - ctx.now().getTime()
  await command(ctx, SYSTEM, async unit => {
    if (startIn <= 0) return enqueueTry(unit, serverId)
    unit.jobs.send(convergeFailingQueue, { serverId }, { key: group, group, startIn })
  })
}

/** Has a server that fails tried at once. The job that waits for its time does not keep this one from being sent. */
export function enqueueTry(unit: Unit, serverId: number): void {
  const group = String(serverId)
  unit.jobs.send(convergeFailingQueue, { serverId }, { key: `${group}:now`, group, priority: URGENT })
}
