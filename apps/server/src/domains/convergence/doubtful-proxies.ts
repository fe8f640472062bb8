// Servers whose proxies may not serve: an installation started a program that has passed no check, or customers are
// shown a port that the agent does not serve.
import { randomBytes } from 'node:crypto'
import { connect, isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
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

/**
 * How far a request through a server's proxy gets. `silent`: nothing answers there. `serves`: it accepts the login, but
 * reaches no site. `reaches`: a site answered.
 */
export type ProxyLevel = 'silent' | 'serves' | 'reaches'

export const LEVELS: readonly ProxyLevel[] = ['silent', 'serves', 'reaches']

const PROXY_ANSWER_MS = 5_000

/** Another way to the machine's address, if this console has no route of its own, such as a console without IPv6. */
type Detour = (at: ProxyAddress) => Promise<Duplex>

/**
 * Makes a proxy user on an address of the server, requests each of these sites through it until one answers, and
 * removes the user. If the removal fails, the next repair removes the user. If the proxy takes no connection, the other
 * sites are not asked.
 * @returns null if there is no address to ask at, or the agent does not make the user; `no_way` if neither this console
 * nor the detour has a route to such addresses
 */
export async function checkProxy(
  agent: AgentClient,
  at: ProxyAddress | null,
  sites: readonly string[],
  detour?: Detour
): Promise<ProxyLevel | 'no_way' | null> {
  if (at === null) return null
  const user = `netlet-check-${randomBytes(6).toString('hex')}`
  try {
    const made = await agent.raw('POST', '/api/create-user-by-prefix', {
      user,
      prefix: `${at.host}/${isIPv6(at.host) ? 128 : 32}`
    })
    const line = made.ok && made.data.status === 200 ? PROXY_LINE.exec(made.data.body) : null
    if (line === null) return null
    const proxy = { ...at, login: Buffer.from(`${user}:${line[1] ?? ''}`).toString('base64') }
    let best: ProxyLevel = 'silent'
    for (const site of sites) {
      const level = await ask(proxy, new URL(site), detour)
      if (level === 'no_way') return level
      if (level === 'closed') break
      if (LEVELS.indexOf(level) > LEVELS.indexOf(best)) best = level
      if (best === 'reaches') break
    }
    return best
  } finally {
    await agent.raw('POST', '/api/delete-user', { user })
  }
}

/** Captures the password of the first proxy in an answer: `ip:port:user:password`, an IPv6 address in brackets. */
const PROXY_LINE = /"(?:[\d.]+|\[[\da-f:.]+\]):\d+:[^:"]+:([^":]+)"/i

/** The system has no route to such addresses, which says nothing about the proxy. */
const NO_WAY = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])

type Proxy = ProxyAddress & { login: string }

/** Asks for a tunnel to the site. The proxy's answer says how far it got. `closed`: the proxy takes no connection. */
async function ask(proxy: Proxy, site: URL, detour?: Detour): Promise<ProxyLevel | 'closed' | 'no_way'> {
  const socket = connect({ host: proxy.host, port: proxy.port })
  let isOpen = false
  socket.once('connect', () => (isOpen = true))
  const level = await requestOver(socket, proxy, site)
  if (level !== 'no_way' || !detour) return level === 'silent' && !isOpen ? 'closed' : level
  const channel = await detour(proxy).catch(() => null)
  return channel ? requestOver(channel, proxy, site) : 'no_way'
}

function requestOver(socket: Duplex, proxy: Proxy, site: URL): Promise<ProxyLevel | 'no_way'> {
  const { promise, resolve } = Promise.withResolvers<ProxyLevel | 'no_way'>()
  const late = setTimeout(() => socket.destroy(), PROXY_ANSWER_MS)
  const target = `${site.hostname}:${site.port || (site.protocol === 'https:' ? 443 : 80)}`
  let said = ''
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: Basic ${proxy.login}\r\n\r\n`)
  socket.on('data', (data: Buffer) => {
    said += data.toString('latin1')
    if (said.includes('\r\n')) socket.destroy()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => NO_WAY.has(error.code ?? '') && resolve('no_way'))
  socket.on('close', () => {
    clearTimeout(late)
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(said)?.[1] ?? 0)
    // Wrong credentials or too many connections: it does not serve as it should.
    const served = status >= 500 || status === 403
    resolve(status === 200 ? 'reaches' : served ? 'serves' : 'silent')
  })
  return promise
}
