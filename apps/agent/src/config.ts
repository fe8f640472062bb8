import { type PortRange, systemPorts } from './net/source-ports.ts'
import { parsePrefixes, type Prefix } from './net/ip.ts'
import { defaultLimits, type Limits } from './proxy/plane.ts'

export type AgentConfig = {
  host: string
  port: number
  proxyHosts: string[]
  proxyPort: number
  /** null: made at the first start and kept in the state folder. */
  token: string | null
  folder: string
  allowDestinations: Prefix[]
  denyPorts: number[]
  protectedPorts: number[]
  ownPorts: number[]
  /** Names that ECH hellos show in place of the hidden one. */
  echNames: string[]
  /** Local ports of the connections to targets. */
  sourcePorts: PortRange
  tls: { cert: string; key: string } | null
  workers: number
  limits: Limits
  log: { maxBytes: number; keep: number }
}

export type ConfigResult = { ok: true; config: AgentConfig } | { ok: false; message: string }

type Env = Readonly<Record<string, string | undefined>>

const list = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')

/** Reads the environment; the first value that makes no sense is named with what would. */
export function readConfig(env: Env): ConfigResult {
  const problems: string[] = []
  const whole = (name: string, fallback: number, least: number, most: number): number => {
    const text = env[name]
    if (text === undefined || text === '') return fallback
    const value = Number(text)
    if (Number.isInteger(value) && value >= least && value <= most) return value
    problems.push(`${name} must be a whole number from ${least} to ${most}.`)
    return fallback
  }
  const ports = (name: string, fallback: string): number[] =>
    list(env[name] ?? fallback).map(text => {
      const port = Number(text)
      if (!Number.isInteger(port) || port < 1 || port > 65_535) problems.push(`${name} must list port numbers.`)
      return port
    })
  const allowed = parsePrefixes(list(env['AGENT_ALLOW_DESTINATIONS']))
  if (!allowed.ok) problems.push(`AGENT_ALLOW_DESTINATIONS must list prefixes like 10.0.0.0/8; ${allowed.bad} is none.`)
  const cert = env['AGENT_TLS_CERT'] ?? ''
  const key = env['AGENT_TLS_KEY'] ?? ''
  if ((cert === '') !== (key === '')) problems.push('AGENT_TLS_CERT and AGENT_TLS_KEY must be set together.')
  const token = env['AGENT_TOKEN'] ?? ''
  if (token !== '' && token.length < 8) problems.push('AGENT_TOKEN must have at least 8 characters.')
  const workers = whole('AGENT_WORKERS', 1, 0, 64)
  const shares = Math.max(1, workers)
  if (workers > 1 && process.platform !== 'linux') problems.push('AGENT_WORKERS above 1 needs Linux.')
  const proxyHosts = list(env['PROXY_HOST'] ?? '::')
  const config: AgentConfig = {
    host: env['AGENT_HOST'] || '127.0.0.1',
    port: whole('AGENT_PORT', 65_533, 0, 65_535),
    proxyHosts: proxyHosts.length === 0 ? ['::'] : proxyHosts,
    proxyPort: whole('PROXY_PORT', 3128, 0, 65_535),
    token: token === '' ? null : token,
    folder: `${env['DATA_DIR'] || './data'}/agent`,
    allowDestinations: allowed.ok ? allowed.prefixes : [],
    denyPorts: ports('AGENT_DENY_PORTS', '25'),
    ownPorts: ports('AGENT_OWN_PORTS', ''),
    protectedPorts: ports('AGENT_PROTECTED_PORTS', ''),
    echNames: list(env['AGENT_ECH_NAMES'] ?? 'cloudflare-ech.com').map(name => name.toLowerCase()),
    sourcePorts: systemPorts(),
    tls: cert === '' ? null : { cert, key },
    workers,
    limits: {
      ...defaultLimits,
      idleMs: whole('AGENT_IDLE_SECONDS', 300, 1, 86_400) * 1000,
      connectionsPerUser: Math.ceil(whole('AGENT_USER_CONNECTIONS', 4096, 1, 1_000_000) / shares),
      strangersPerClient: whole('AGENT_CLIENT_CONNECTIONS', 1024, 1, 1_000_000),
      connections: Math.ceil(whole('AGENT_CONNECTIONS', 60_000, 1, 10_000_000) / shares)
    },
    log: {
      maxBytes: whole('AGENT_LOG_MEGABYTES', 50, 1, 100_000) * 1_000_000,
      keep: whole('AGENT_LOG_FILES', 5, 0, 100)
    }
  }
  return problems.length === 0 ? { ok: true, config } : { ok: false, message: problems.join(' ') }
}
