// Servers whose proxies may not serve: an installation started a program that has passed no check, or customers are
// shown a port that the agent does not serve.
import { and, eq, isNull } from 'drizzle-orm'
import pLimit from 'p-limit'
import { serverCidrs } from '../inventory/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AgentClient } from '../../integrations/agent/index.ts'
import { agentOf, clearTrouble, markReachable, setTrouble, tellWebhooks, type SyncContext } from './agents.ts'
import { withServerLock } from './lock.ts'
import { firstOf } from './proofs/samples.ts'
import { checkProxy, type Detour, type ProxyAddress } from './proxy-check.ts'
import { isAlive } from './installations.ts'
import { type ServerRow, isWrongPort, lockServer, publishSelling } from './server-row.ts'
import { servers } from './tables.ts'

/** The sites that are requested when a proxy is tried. */
const sitesOf = ({ config: { checkSites } }: Pick<SyncContext, 'config'>): string[] => Object.values(checkSites)

/**
 * The lowest address of the server's first range that its agent took, of IPv4 if it has one. Of an IPv6 range, the
 * address that customers of its first /64 connect to. Null if it has no range.
 */
export async function firstAddressOf({ db }: Pick<SyncContext, 'db'>, server: ServerRow): Promise<ProxyAddress | null> {
  const ranges = (await serverCidrs(db, server.id)).filter(cidr => !server.refusedRanges.includes(cidr))
  const range = ranges.find(cidr => !cidr.includes(':')) ?? ranges[0]
  if (range === undefined) return null
  return { host: range.includes(':') ? firstOf(range) : (range.split('/')[0] ?? ''), port: server.proxyPort }
}

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

/** Another program is about to serve there. The server sells nothing until it has passed a check. */
export async function markUnserved(unit: Unit, serverId: number): Promise<void> {
  await unit.tx.update(servers).set({ unservedSince: unit.now }).where(eq(servers.id, serverId))
  unit.publish('server', serverId)
  publishSelling(unit)
}

/**
 * Records that the proxy was tried and answers, or that a program known to serve runs again.
 * @param since the mark to clear, if given; a newer one, of a later start, stays
 */
export async function markServed(unit: Unit, serverId: number, since?: Date | null): Promise<void> {
  const { unservedSince } = servers
  const mark = since === undefined ? undefined : since === null ? isNull(unservedSince) : eq(unservedSince, since)
  const marked = await unit.tx
    .update(servers)
    .set({ unservedSince: null })
    .where(and(eq(servers.id, serverId), mark))
    .returning({ id: servers.id })
  if (marked.length === 0) return
  await clearTrouble(unit, serverId, ['not_served', 'other_port'])
  unit.publish('server', serverId)
  publishSelling(unit)
}

/**
 * Shows a server as unserved, unless an installation runs. Any other trouble stays.
 * @param told the port that its agent reports; if customers are shown another one, the server is unserved
 */
export async function showUnserved(unit: Unit, serverId: number, told?: number): Promise<void> {
  const row = await lockServer(unit, serverId)
  if (!row || isAlive(row, unit.now)) return
  const isOther = told !== undefined && isWrongPort(row, told)
  if (told !== undefined && !isOther) await clearTrouble(unit, serverId, ['other_port'])
  if (!isOther && row.unservedSince === null) return
  if (isOther) await showPort(unit, row, told)
  else if (row.trouble === null || (row.trouble === 'other_port' && told !== undefined))
    await setTrouble(unit, serverId, { code: 'not_served' })
  if (row.offline && row.unservedSince !== null) return
  const unservedSince = row.unservedSince ?? unit.now
  await unit.tx.update(servers).set({ unservedSince, offline: true }).where(eq(servers.id, serverId))
  if (!row.offline) await tellWebhooks(unit, 'server.down', serverId)
  unit.publish('server', serverId)
  publishSelling(unit)
}

/** The port says more than `not_served`, so it replaces that trouble. */
async function showPort(unit: Unit, { id, proxyPort: ours, trouble, troubleParams }: ServerRow, theirs: number) {
  if (trouble !== null && trouble !== 'not_served' && trouble !== 'other_port') return
  const isShown = trouble === 'other_port' && troubleParams?.['theirs'] === theirs && troubleParams['ours'] === ours
  if (!isShown) await setTrouble(unit, id, { code: 'other_port', params: { theirs, ours } })
}

/** A server whose agent answers, but whose proxy may not serve. `told`: the port that its agent reports. */
export type Doubtful = { server: ServerRow; told: number }

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

async function tryOne(ctx: SyncContext, { server, told }: Doubtful): Promise<void> {
  const served = await isServed(ctx, server, told)
  if (served === null) return
  await command(ctx, SYSTEM, async unit => {
    if (!served) return showUnserved(unit, server.id, told)
    const isMarked = server.unservedSince !== null || server.trouble === 'other_port'
    if (isMarked) await markServed(unit, server.id, server.unservedSince)
    await markReachable(unit, server.id)
  })
}

/**
 * Whether a request gets through the proxy on the port that customers are shown. An agent behind a forwarded port
 * reports another port and still serves. If no try is possible, only its word about the port counts.
 * @returns null if unknown
 */
async function isServed(ctx: SyncContext, server: ServerRow, told: number): Promise<boolean | null> {
  const at = await firstAddressOf(ctx, server)
  const agent = agentOf(server, ctx.secrets, ANSWER_MS)
  // A server that is out of stock already loses nothing by one lost request.
  const twice = server.unservedSince === null
  const level = at === null ? 'no_way' : await tryProxy(ctx, server.id, { agent, at, waitMs: ANSWER_MS, twice })
  if (level === 'busy') return null
  if (level === 'no_way') return server.trouble === 'other_port' && !isWrongPort(server, told)
  return level === 'serves' || level === 'reaches'
}
