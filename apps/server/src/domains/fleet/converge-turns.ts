import { and, eq, isNull } from 'drizzle-orm'
import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { URGENT } from '../../infra/jobs.ts'
import { agentOf, markFailing, type ServerRow, type SyncContext } from './agents.ts'
import type { ConfirmPort } from './apply.ts'
import { AgentUnreachable, convergeServer } from './converge.ts'
import { convergeFailingQueue } from './queues.ts'
import { servers } from './tables.ts'

/** How soon an agent that is there says so. In milliseconds. */
const PROBE_MS = 3_000
/** For each call to an agent that was fine the last time: where it takes longer, no other server waits. In milliseconds. */
const HEALTHY_CALL_MS = 5_000
/** Agents that this process works on at once: each takes a database connection, for the server's lock. */
export const CONVERGING_AT_ONCE = 4

const converging = pLimit(CONVERGING_AT_ONCE)

/**
 * Converges a server that was fine the last time. Others wait for it no longer than for one time-out: it is then among
 * those that fail, which have workers of their own, and comes back from there with its first success.
 */
export async function convergeHealthy(ctx: SyncContext, serverId: number, confirm: ConfirmPort): Promise<void> {
  const server = await findServer(ctx, serverId)
  if (!server) return
  const suspect = server.failingSince !== null || server.unreachableSince !== null
  const work = () => converging(() => convergeServer(ctx, serverId, confirm, HEALTHY_CALL_MS))
  if (suspect || !(await tryAgent(ctx, server, work))) await sendNextTry(ctx, serverId)
}

/** Tries a server whose last try failed, where its pause is over. */
export async function convergeFailing(ctx: SyncContext, serverId: number, confirm: ConfirmPort): Promise<void> {
  const server = await findServer(ctx, serverId)
  if (!server) return
  const early = server.nextTryAt !== null && server.nextTryAt > ctx.now()
  const work = () => convergeServer(ctx, serverId, confirm)
  if (early || !(await tryAgent(ctx, server, work))) await sendNextTry(ctx, serverId)
}

/** @returns false where the agent failed; that is recorded */
async function tryAgent(ctx: SyncContext, server: ServerRow, work: () => Promise<void>): Promise<boolean> {
  const { id } = server
  // Without the lock and its connection: where nothing answers, this is all that is waited for.
  const probe = await agentOf(server, ctx.secrets, PROBE_MS).info()
  if (!probe.ok) {
    await command(ctx, SYSTEM, unit => markFailing(unit, id, probe.message))
    return false
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

/** One job waits for each server: at its time, or where the server has just come back, at once. */
async function sendNextTry(ctx: SyncContext, serverId: number): Promise<void> {
  const server = await findServer(ctx, serverId)
  if (!server) return
  const { nextTryAt } = server
  const group = String(serverId)
  const later = nextTryAt !== null && nextTryAt > ctx.now()
  await command(ctx, SYSTEM, async unit =>
    unit.jobs.send(
      convergeFailingQueue,
      { serverId },
      // The one that waits for its time must not keep this one from being sent.
      later ? { key: group, group, startAfter: nextTryAt } : { key: `${group}:now`, group, priority: URGENT }
    )
  )
}

async function findServer(ctx: SyncContext, id: number): Promise<ServerRow | undefined> {
  const [server] = await ctx.db
    .select()
    .from(servers)
    .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
  return server
}
