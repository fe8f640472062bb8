import {
  AGENT_SETTINGS,
  type AgentSettingName,
  type PortRange,
  type WholeSettingName,
  listOf,
  readPorts,
  readPrefixes,
  readSwitch,
  readWhole
} from '@netlet/contract/agent-settings'
import { type Prefix, parsePrefixes } from './net/ip.ts'
import { systemPorts } from './net/source-ports.ts'
import type { AbuseLimits } from './proxy/abuse-watch.ts'
import { type Limits, defaultLimits } from './proxy/limits.ts'
import { type SocketChoice, socketChoices } from './proxy/socket-types.ts'
import type { VariableName } from './variables.ts'

export type AgentConfig = {
  host: string
  port: number
  proxyHosts: string[]
  proxyPort: number
  /** Null: generated at the first start and kept in the state folder. */
  token: string | null
  folder: string
  /** Clients of the management API, besides this machine. Empty: all. */
  allowClients: Prefix[]
  allowDestinations: Prefix[]
  /** Destination ports that customers may reach. Empty: all. `denyPorts` stay closed in any case. */
  allowPorts: PortRange[]
  denyPorts: PortRange[]
  protectedPorts: PortRange[]
  ownPorts: PortRange[]
  /** Public names in TLS hellos that encrypt the real name (ECH). */
  echNames: string[]
  /** Local ports for connections to targets. */
  sourcePorts: PortRange
  /** Which socket implementation connections use. */
  sockets: SocketChoice
  /** Whether SOCKS5 UDP is on. */
  udp: boolean
  /** Certificate files for clients that speak TLS to the proxy port. */
  proxyTls: { cert: string; key: string } | null
  tls: { cert: string; key: string } | null
  workers: number
  /** How long a replaced process may keep its tunnels, and how long a new one may take to get ready. */
  drainMs: number
  takeoverMs: number
  limits: Limits
  /** Events a minute that raise an alarm. */
  abuse: AbuseLimits
  log: { maxBytes: number; keep: number }
}

export type ConfigResult = { ok: true; config: AgentConfig } | { ok: false; message: string }

/** Only documented variables can be read. */
type Env = Readonly<Partial<Record<VariableName, string>>>

const list = (text: string | undefined): string[] => listOf(text ?? '')

/** Reads the environment. The message names each invalid value and what would be valid. */
export function readConfig(env: Env): ConfigResult {
  const problems: string[] = []
  const whole = (name: VariableName, fallback: number, least: number, most: number): number => {
    const text = env[name]
    if (text === undefined || text === '') return fallback
    const value = Number(text)
    if (Number.isInteger(value) && value >= least && value <= most) return value
    problems.push(`${name} must be a whole number from ${least} to ${most}.`)
    return fallback
  }
  // The console checks the same settings with the same code.
  const textOf = (name: AgentSettingName): string => env[name] ?? String(AGENT_SETTINGS[name].fallback)
  const read = <T>(found: { ok: true; value: T } | { ok: false; problem: string }, fallback: T): T => {
    if (found.ok) return found.value
    problems.push(found.problem)
    return fallback
  }
  const set = (name: WholeSettingName): number => read(readWhole(name, textOf(name)), AGENT_SETTINGS[name].fallback)
  const ports = (name: Parameters<typeof readPorts>[0]): PortRange[] => read(readPorts(name, textOf(name)), [])
  const allowed = parsePrefixes(list(env['AGENT_ALLOW_DESTINATIONS']))
  if (!allowed.ok) problems.push(`AGENT_ALLOW_DESTINATIONS must list prefixes like 10.0.0.0/8; ${allowed.bad} is none.`)
  const clients = read(readPrefixes('AGENT_ALLOW_CLIENTS', textOf('AGENT_ALLOW_CLIENTS')), [])
  const cert = env['AGENT_TLS_CERT'] ?? ''
  const key = env['AGENT_TLS_KEY'] ?? ''
  if ((cert === '') !== (key === '')) problems.push('AGENT_TLS_CERT and AGENT_TLS_KEY must be set together.')
  const udp = read(readSwitch('AGENT_UDP', textOf('AGENT_UDP')), true)
  const proxyCert = env['PROXY_TLS_CERT'] ?? ''
  const proxyKey = env['PROXY_TLS_KEY'] ?? ''
  if ((proxyCert === '') !== (proxyKey === '')) problems.push('PROXY_TLS_CERT and PROXY_TLS_KEY must be set together.')
  const token = env['AGENT_TOKEN'] ?? ''
  if (token !== '' && token.length < 8) problems.push('AGENT_TOKEN must have at least 8 characters.')
  const sockets = socketChoices.find(choice => choice === (env['AGENT_SOCKETS'] || 'auto'))
  if (sockets === undefined) problems.push(`AGENT_SOCKETS must be one of ${socketChoices.join(', ')}.`)
  const workers = set('AGENT_WORKERS')
  const shares = Math.max(1, workers)
  if (workers > 1 && process.platform !== 'linux') problems.push('AGENT_WORKERS above 1 needs Linux.')
  // Each worker sees only its share of what a user does.
  const perShare = (name: WholeSettingName): number => Math.ceil(set(name) / shares)
  const proxyHosts = list(env['PROXY_HOST'] ?? '::')
  const config: AgentConfig = {
    host: env['AGENT_HOST'] || '127.0.0.1',
    port: whole('AGENT_PORT', 65_533, 0, 65_535),
    proxyHosts: proxyHosts.length === 0 ? ['::'] : proxyHosts,
    proxyPort: whole('PROXY_PORT', 3128, 0, 65_535),
    token: token === '' ? null : token,
    folder: `${env['DATA_DIR'] || './data'}/agent`,
    allowClients: clients,
    allowDestinations: allowed.ok ? allowed.prefixes : [],
    allowPorts: ports('AGENT_ALLOW_PORTS'),
    denyPorts: ports('AGENT_DENY_PORTS'),
    ownPorts: ports('AGENT_OWN_PORTS'),
    protectedPorts: ports('AGENT_PROTECTED_PORTS'),
    echNames: list(env['AGENT_ECH_NAMES'] ?? 'cloudflare-ech.com').map(name => name.toLowerCase()),
    sourcePorts: systemPorts(),
    sockets: sockets ?? 'auto',
    udp,
    proxyTls: proxyCert === '' ? null : { cert: proxyCert, key: proxyKey },
    tls: cert === '' ? null : { cert, key },
    workers,
    drainMs: set('AGENT_DRAIN_SECONDS') * 1000,
    takeoverMs: whole('AGENT_TAKEOVER_SECONDS', 60, 1, 600) * 1000,
    limits: {
      ...defaultLimits,
      idleMs: set('AGENT_IDLE_SECONDS') * 1000,
      connectionsPerUser: set('AGENT_USER_CONNECTIONS'),
      connectionsPerAddress: set('AGENT_ADDRESS_CONNECTIONS'),
      connectionsPerClient: set('AGENT_CUSTOMER_CONNECTIONS'),
      newPerUser: set('AGENT_USER_RATE'),
      newPerAddress: set('AGENT_ADDRESS_RATE'),
      newPerClient: set('AGENT_CLIENT_RATE'),
      newHandshakes: whole('AGENT_TLS_RATE', defaultLimits.newHandshakes, 0, 1_000_000),
      newHandshakesPerClient: whole('AGENT_TLS_CLIENT_RATE', defaultLimits.newHandshakesPerClient, 0, 1_000_000),
      processes: shares,
      // A client's connections may reach any worker, so each worker has a share of the guesses.
      failedLogins: perShare('AGENT_FAILED_LOGINS'),
      failedLoginMs: set('AGENT_FAILED_LOGIN_SECONDS') * 1000 * shares,
      strangersPerClient: set('AGENT_CLIENT_CONNECTIONS'),
      connections: Math.ceil(set('AGENT_CONNECTIONS') / shares)
    },
    abuse: {
      scan: perShare('AGENT_ALARM_SCAN'),
      flood: perShare('AGENT_ALARM_FLOOD'),
      mail: perShare('AGENT_ALARM_MAIL'),
      guessing: perShare('AGENT_ALARM_GUESSING')
    },
    log: {
      maxBytes: set('AGENT_LOG_MEGABYTES') * 1_000_000,
      keep: set('AGENT_LOG_FILES')
    }
  }
  return problems.length === 0 ? { ok: true, config } : { ok: false, message: problems.join(' ') }
}

/** Intervals of the managing process, in milliseconds. Tests shorten them. */
export type Times = {
  /** How often counters are collected. Each tenth time they are saved. */
  collectMs: number
  /** Delay before an ended worker is replaced. It doubles while none starts to listen. */
  restartMs: number
  /** Polling interval for certificate files. */
  lookMs: number
}

export const defaultTimes: Times = { collectMs: 1000, restartMs: 500, lookMs: 5000 }
