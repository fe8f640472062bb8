import { randomBytes } from 'node:crypto'
import { connect, isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import type { AgentClient } from '../../integrations/agent/index.ts'
import type { ProxyAddress } from '../servers/index.ts'

/**
 * How far a request through a server's proxy gets. `silent`: nothing answers there. `serves`: it accepts the login, but
 * reaches no site. `reaches`: a site answered.
 */
export type ProxyLevel = 'silent' | 'serves' | 'reaches'

export const LEVELS: readonly ProxyLevel[] = ['silent', 'serves', 'reaches']

const PROXY_ANSWER_MS = 5_000

/** Another way to the machine's address, if this console has no route of its own, such as a console without IPv6. */
export type Detour = (at: ProxyAddress) => Promise<Duplex>

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
