import type { LocationState } from '@netlet/contract'
import { MINUTE } from '../../infra/clock.ts'

/** What is known of a server, to say how it does. */
export type ServerSigns = {
  status: 'active' | 'paused' | 'draining' | 'given_up' | 'returning'
  /** Its agent answered its last health check, and when it did so last. */
  connected: boolean
  lastSeenAt: Date | null
  /** Since when it does not answer; null: it does, or nobody ever asked. */
  unreachableSince: Date | null
  /** What its agent says is wrong. */
  problems: readonly string[]
  /** What came of the checks of its proxies lately; undefined: none. */
  checks: ProxyChecks | undefined
}

/** Checks of one server's proxies: each customer counts as one, with the share of its proxies that reached no site. */
export type ProxyChecks = { customers: number; failing: number; share: number }

/** Older signs say nothing: a minute's health checks and the proxies' own take less. */
const STALE = 5 * MINUTE

/** Customers whose proxies fail before that counts: what one customer's proxies do may be that customer's own doing. */
const CUSTOMERS = 2
const DEGRADED_SHARE = 0.2
const DOWN_SHARE = 0.9

/** Troubles of an agent that its customers meet. A full disk and a wrong clock are the operators' alone. */
const FELT: ReadonlySet<string> = new Set([
  'worker_missing',
  'handles_low',
  'loop_slow',
  'routes_missing',
  'dns_failing'
])

/** How a server does for its customers; null: it is not in use, and counts nowhere. docs/STATUS.md says it in words. */
export function serverState(signs: ServerSigns, now: Date): LocationState | null {
  const { status, connected, lastSeenAt, unreachableSince, problems, checks } = signs
  if (status === 'given_up' || status === 'returning') return null
  if (status !== 'active') return 'maintenance'
  if (!connected) return unreachableSince === null ? 'unknown' : 'down'
  if (lastSeenAt === null || now.getTime() - lastSeenAt.getTime() > STALE) return 'unknown'
  const failing = checks && checks.failing >= CUSTOMERS ? checks.share : 0
  if (failing >= DOWN_SHARE) return 'down'
  return failing >= DEGRADED_SHARE || problems.some(problem => FELT.has(problem)) ? 'degraded' : 'up'
}

/** Of the servers that are known and not in maintenance, this share has to be down for the location to be. */
const DOWN_SERVERS = 0.5

/** How a location does, by the states of its servers. */
export function locationState(servers: readonly LocationState[]): LocationState {
  const known = servers.filter(state => state !== 'unknown')
  const serving = known.filter(state => state !== 'maintenance')
  if (serving.length === 0) return known.length > 0 ? 'maintenance' : 'unknown'
  const down = serving.filter(state => state === 'down').length
  if (down / serving.length >= DOWN_SERVERS) return 'down'
  return serving.every(state => state === 'up') ? 'up' : 'degraded'
}

const WORST: readonly LocationState[] = ['down', 'degraded', 'maintenance', 'up']

/** The worst of several; `unknown` only where nothing else is. */
export const worstState = (states: readonly LocationState[]): LocationState =>
  WORST.find(state => states.includes(state)) ?? 'unknown'

/** Minutes in each state, of one server or of several. */
export type Minutes = { up: number; degraded: number; down: number; maintenance: number }

/** From this percentage on a day counts as up, below the other one as down. */
const UP_DAY = 99.5
const DOWN_DAY = 50

/** Percent of the time without maintenance that servers worked, degraded or not, rounded down to 2 decimals. */
export function shareUp({ up, degraded, down }: Minutes): number | null {
  const all = up + degraded + down
  // Rounded up, a minute of silence in three months would be none.
  return all === 0 ? null : Math.floor(((up + degraded) * 10_000) / all) / 100
}

/** What a day was, by its minutes. */
export function dayState(minutes: Minutes): LocationState {
  const share = shareUp(minutes)
  if (share === null) return minutes.maintenance > 0 ? 'maintenance' : 'unknown'
  if (share < DOWN_DAY) return 'down'
  const { up, degraded, down } = minutes
  return share < UP_DAY || degraded * 100 > (up + degraded + down) * (100 - UP_DAY) ? 'degraded' : 'up'
}
