// Servers whose proxies may not serve: an installation started a program that has passed no check, or customers are
// shown a port that the agent does not serve.

import { type Detour, checkProxy } from './check-proxy.ts'
import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AgentClient } from '../../integrations/agent/index.ts'
import {
  type ProxyAddress,
  type ServerRow,
  type SyncContext,
  agentOf,
  firstAddressOf,
  isWrongPort,
  markReachable,
  markServed,
  showUnserved,
  withServerLock
} from '../servers/index.ts'

/** The sites that are requested when a proxy is tried. */
const sitesOf = ({ config: { checkSites } }: Pick<SyncContext, 'config'>): string[] => Object.values(checkSites)

/** `busy`: other processes held the server's lock all the time. */
export type Tried = Awaited<ReturnType<typeof checkProxy>> | 'busy'

/**
 * Tries a server's proxy under the server's lock, which the caller must not hold. Without the lock, a repair would
 * remove the check's unwanted user, and a proxy that serves would look silent.
 * @param options.waitMs how long to wait for the lock
 * @param options.twice tries again if the proxy is silent, so that one lost request takes no server out of stock
 */
export async function tryProxy(
  ctx: SyncContext,
  serverId: number,
  options: { agent: AgentClient; at: ProxyAddress | null; waitMs: number; twice: boolean; detour?: Detour }
): Promise<Tried> {
  const { agent, at, waitMs, twice, detour } = options
  let found: Tried = 'busy'
  const check = async () => {
    found = await checkProxy(agent, at, sitesOf(ctx), detour)
    if (twice && at !== null && (found === 'silent' || found === null))
      found = await checkProxy(agent, at, sitesOf(ctx), detour)
  }
  await withServerLock(ctx.db, serverId, check, { waitMs })
  return found
}

/** A server whose agent answers, but whose proxy may not serve. `reportedPort`: the port that its agent reports. */
export type Doubtful = { server: ServerRow; reportedPort: number }

/** Each try holds a database connection for the server's lock. */
const tries = pLimit(8)
/** After this time a health check starts no try. The next minute's check goes on. */
const TRIES_MS = 30_000
const ANSWER_MS = 5_000

/** Tries the proxies of these servers. Those that serve sell again; the others show as unserved. */
export async function tryDoubtful(ctx: SyncContext, doubtful: readonly Doubtful[]): Promise<void> {
  const until = performance.now() + TRIES_MS
  // In random order, so that each gets its turn even if many are silent.
  const shuffled = doubtful.map(one => ({ one, at: Math.random() })).toSorted((a, b) => a.at - b.at)
  await Promise.all(
    shuffled.map(({ one }) =>
      tries(async () => {
        if (performance.now() < until) await tryOne(ctx, one)
      })
    )
  )
}

async function tryOne(ctx: SyncContext, { server, reportedPort }: Doubtful): Promise<void> {
  const served = await isServed(ctx, server, reportedPort)
  if (served === null) return
  await command(ctx, SYSTEM, async unit => {
    if (!served) return showUnserved(unit, server.id, reportedPort)
    const isMarked = server.unservedSince !== null || server.trouble === 'other_port'
    if (isMarked) await markServed(unit, server.id, server.unservedSince)
    await markReachable(unit, server.id)
  })
}

/**
 * Whether a request gets through the proxy on the port that customers are shown. An agent behind a forwarded port
 * reports another port and still serves. If the proxy cannot be tried, we rely on the
 * port that the agent reports.
 * @returns null if unknown
 */
async function isServed(ctx: SyncContext, server: ServerRow, reportedPort: number): Promise<boolean | null> {
  const at = await firstAddressOf(ctx, server)
  const agent = agentOf(server, ctx.secrets, ANSWER_MS)
  // A server that is already out of stock needs no second try: a lost request changes nothing.
  const twice = server.unservedSince === null
  const level = at === null ? 'no_way' : await tryProxy(ctx, server.id, { agent, at, waitMs: ANSWER_MS, twice })
  if (level === 'busy') return null
  if (level === 'no_way') return server.trouble === 'other_port' && !isWrongPort(server, reportedPort)
  return level === 'serves' || level === 'reaches'
}
