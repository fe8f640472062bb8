import { and, asc, eq, isNull, ne } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { agentOf, type SyncContext, readServerRow } from '../servers/index.ts'
import { servers } from '../servers/tables.ts'
import { trafficCursors } from './tables.ts'
import { recordPage, type TrafficPorts } from './record.ts'
import { queue } from '../../infra/jobs.ts'

/** Each minute: has every server's counters fetched. */
export const trafficQueue = queue<object>('collect-traffic', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Fetches one server's counters. If it fails, the next minute's job fetches them. */
export const serverTrafficQueue = queue<{ serverId: number }>('collect-server-traffic', {
  retryLimit: 0,
  deleteAfterSeconds: 600
})

/** All servers are asked one after the other within this time. In milliseconds. */
const SPREAD_MS = 45_000
/** What one run takes from one server. The next run goes on. */
const PAGES = 40
const ROWS = 2000
/** How long one run works on one server, and waits for each of its answers. The next run goes on. In milliseconds. */
const RUN_MS = 30_000
const ANSWER_MS = 10_000

/** Has the counters of every server that answers fetched, spread over the minute. */
export async function collectTraffic(ctx: SyncContext): Promise<void> {
  const all = await ctx.db
    .select({ id: servers.id })
    .from(servers)
    .where(and(isNull(servers.deletedAt), eq(servers.connected, true), ne(servers.status, 'given_up')))
    .orderBy(asc(servers.id))
  await command(ctx, SYSTEM, async unit => {
    for (const [at, { id }] of all.entries()) {
      const startIn = Math.floor((at * SPREAD_MS) / all.length)
      unit.jobs.send(serverTrafficQueue, { serverId: id }, { key: String(id), group: String(id), startIn })
    }
  })
}

/**
 * Fetches what changed of one agent's counters, page by page, and adds it up. It may run repeatedly and at once with
 * itself: a page counts only as the successor of what was counted before. An agent whose answer cannot be used, or that is
 * too old for this call, is asked again the next minute.
 * @returns how many rows were counted
 */
export async function collectServerTraffic(
  ctx: SyncContext,
  serverId: number,
  ports: TrafficPorts,
  { runMs = RUN_MS }: { runMs?: number } = {}
): Promise<number> {
  const server = await readServerRow(ctx.db, serverId)
  // Traffic of a server that was given up belongs to no order.
  if (!server || server.status === 'given_up') return 0
  const agent = agentOf(server, ctx.secrets, Math.min(ANSWER_MS, runMs))
  const until = performance.now() + runMs
  const [known] = await ctx.db.select().from(trafficCursors).where(eq(trafficCursors.serverId, serverId))
  let at = { epoch: known?.epoch ?? '', cursor: known?.cursor ?? 0 }
  let taken = 0
  for (let page = 0; page < PAGES && performance.now() < until; page++) {
    const reply = await agent.trafficChanges({ epoch: at.epoch, after: at.cursor, limit: ROWS, fresh: page === 0 })
    if (!reply.ok) {
      // An old agent refuses the call each minute.
      const level = reply.kind === 'refused' ? 'debug' : 'warn'
      ctx.log[level]({ server: serverId, reason: reply.message }, 'the traffic of an agent could not be read')
      return taken
    }
    const { data } = reply
    const isCounted = await command(ctx, SYSTEM, unit => recordPage(unit, { serverId, asked: at, page: data }, ports))
    if (!isCounted) return taken
    taken += data.rows.length
    // A cursor that stands still would be asked for endlessly.
    if (!data.more || (data.epoch === at.epoch && data.cursor <= at.cursor)) return taken
    at = { epoch: data.epoch, cursor: data.cursor }
  }
  return taken
}
