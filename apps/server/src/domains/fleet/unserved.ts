// Servers of which nobody knows that they serve: an installation started a program there that has passed no check, or customers are
// shown a port that its agent does not serve.
import { and, eq, isNull } from 'drizzle-orm'
import pLimit from 'p-limit'
import { serverCidrs } from '../inventory/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AgentClient } from '../../integrations/agent/index.ts'
import { agentOf, clearTrouble, markReachable, setTrouble, tellWebhooks, type SyncContext } from './agents.ts'
import { withServerLock } from './lock.ts'
import { firstOf } from './proofs/samples.ts'
import { checkProxy, type Detour, type ProxyAddress } from './provision/check.ts'
import { isAlive } from './provision/request.ts'
import { publishSelling } from './selling.ts'
import { lockServer, type ServerRow } from './server-row.ts'
import { servers } from './tables.ts'
import { isOtherPort } from './told-port.ts'

/** The sites by which a proxy is tried. */
const sitesOf = ({ config: { checkSites } }: Pick<SyncContext, 'config'>): string[] => Object.values(checkSites)

/**
 * The lowest address of the first range that is the server's and that its agent took, of IPv4 where there is one; of an IPv6
 * range the one that customers of its first /64 connect to. Null where it has no range.
 */
export async function firstAddressOf({ db }: Pick<SyncContext, 'db'>, server: ServerRow): Promise<ProxyAddress | null> {
  const ranges = (await serverCidrs(db, server.id)).filter(cidr => !server.refusedRanges.includes(cidr))
  const range = ranges.find(cidr => !cidr.includes(':')) ?? ranges[0]
  if (range === undefined) return null
  return { host: range.includes(':') ? firstOf(range) : (range.split('/')[0] ?? ''), port: server.proxyPort }
}

/** `busy`: others talked to the agent all the time. */
export type Tried = Awaited<ReturnType<typeof checkProxy>> | 'busy'

/**
 * Tries the proxy of a server while nobody else talks to its agent. A repair would remove the user of the check, which nobody
 * wants, and what serves would look silent. The caller does not hold the server's lock, and no call that is made here takes it.
 * @param options.waitMs how long to wait for whoever talks to the agent
 * @param options.twice asks once more where it is silent: one lost request takes no server out of stock
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

/** What serves there is about to be another program: it sells nothing until that has passed a check. */
export async function markUnserved(unit: Unit, serverId: number): Promise<void> {
  await unit.tx.update(servers).set({ unservedSince: unit.now }).where(eq(servers.id, serverId))
  unit.publish('server', serverId)
  publishSelling(unit)
}

/**
 * Its proxy was tried, and answers; or what was known to serve runs again.
 * @param since the mark that this is about, if any: another one, of what was started since, stays
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
 * Says that a server is unserved, once no installation is at it any more. Any other trouble stays to be read.
 * @param told the port that its agent tells; one that serves another port than customers are shown is unserved by that
 */
export async function showUnserved(unit: Unit, serverId: number, told?: number): Promise<void> {
  const row = await lockServer(unit, serverId)
  if (!row || isAlive(row, unit.now)) return
  const isOther = told !== undefined && isOtherPort(row, told)
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

/** What to do about the port says more than that nobody knows whether it serves. */
async function showPort(unit: Unit, { id, proxyPort: ours, trouble, troubleParams }: ServerRow, theirs: number) {
  if (trouble !== null && trouble !== 'not_served' && trouble !== 'other_port') return
  const isShown = trouble === 'other_port' && troubleParams?.['theirs'] === theirs && troubleParams['ours'] === ours
  if (!isShown) await setTrouble(unit, id, { code: 'other_port', params: { theirs, ours } })
}

/** A server whose agent answers, and of which nobody knows that it serves; `told`: the port that its agent tells. */
export type Doubtful = { server: ServerRow; told: number }

/** Each try keeps a connection to the database, which holds the server's lock. */
const tries = pLimit(8)
/** A health check begins no try later: that of the next minute goes on. */
const TRIES_MS = 30_000
const ANSWER_MS = 5_000

/** Tries the proxies of these servers. Those that serve sell again, and those that do not are shown. */
export async function tryDoubtful(ctx: SyncContext, doubtful: readonly Doubtful[]): Promise<void> {
  const until = performance.now() + TRIES_MS
  // In another order each time: however many are silent, each has its turn.
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
 * Does a request come through the proxy on the port that customers are shown? An agent behind a forwarded port tells another one, and
 * serves. Where nobody can try it, its word about the port is all there is.
 * @returns null where nobody knows
 */
async function isServed(ctx: SyncContext, server: ServerRow, told: number): Promise<boolean | null> {
  const at = await firstAddressOf(ctx, server)
  const agent = agentOf(server, ctx.secrets, ANSWER_MS)
  // What sells nothing loses nothing by one lost request.
  const twice = server.unservedSince === null
  const level = at === null ? 'no_way' : await tryProxy(ctx, server.id, { agent, at, waitMs: ANSWER_MS, twice })
  if (level === 'busy') return null
  if (level === 'no_way') return server.trouble === 'other_port' && !isOtherPort(server, told)
  return level === 'serves' || level === 'reaches'
}
