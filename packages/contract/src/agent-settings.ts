// Settings of a node agent that operators may want to be other ones on each server. The agent reads them from its environment
// by what is written here, and the console checks by the same what is typed.
import { parsePrefixes, type Prefix } from './prefixes.ts'

type Unit = 'seconds' | 'per_second' | 'per_minute' | 'megabytes'
type Kind =
  | { kind: 'whole'; least: number; most: number; fallback: number; unit?: Unit }
  | { kind: 'ports' | 'prefixes'; fallback: string }
  | { kind: 'switch'; fallback: 'on' | 'off' }

const count = (fallback: number, least = 0, most = 1_000_000) => ({ kind: 'whole', least, most, fallback }) as const
const rate = (fallback: number) => ({ ...count(fallback), unit: 'per_second' }) as const
const alarm = (fallback: number) => ({ ...count(fallback, 1, 100_000_000), unit: 'per_minute' }) as const

/** By their groups, as the console shows them. `fallback`: what the agent takes where nothing is set. */
export const AGENT_SETTINGS = {
  AGENT_ALLOW_CLIENTS: { kind: 'prefixes', fallback: '' },
  AGENT_DENY_PORTS: { kind: 'ports', fallback: '25,465,587' },
  AGENT_OWN_PORTS: { kind: 'ports', fallback: '' },
  AGENT_PROTECTED_PORTS: { kind: 'ports', fallback: '' },
  AGENT_UDP: { kind: 'switch', fallback: 'on' },
  AGENT_WORKERS: count(1, 0, 64),
  AGENT_IDLE_SECONDS: { ...count(300, 1, 86_400), unit: 'seconds' },
  AGENT_DRAIN_SECONDS: { ...count(600, 0, 86_400), unit: 'seconds' },
  AGENT_CONNECTIONS: count(60_000, 1, 10_000_000),
  AGENT_USER_CONNECTIONS: count(4096),
  AGENT_ADDRESS_CONNECTIONS: count(8192),
  AGENT_CUSTOMER_CONNECTIONS: count(16_384),
  AGENT_CLIENT_CONNECTIONS: count(1024, 1),
  AGENT_USER_RATE: rate(2000),
  AGENT_ADDRESS_RATE: rate(2000),
  AGENT_CLIENT_RATE: rate(4000),
  AGENT_ALARM_SCAN: alarm(300),
  AGENT_ALARM_FLOOD: alarm(6000),
  AGENT_ALARM_MAIL: alarm(30),
  AGENT_ALARM_GUESSING: alarm(120),
  AGENT_LOG_MEGABYTES: { ...count(50, 1, 100_000), unit: 'megabytes' },
  AGENT_LOG_FILES: count(5, 0, 100)
} as const satisfies Record<string, Kind>

export type AgentSettingName = keyof typeof AGENT_SETTINGS
export const AGENT_SETTING_NAMES = Object.keys(AGENT_SETTINGS) as AgentSettingName[]
type NamesOf<K extends Kind['kind']> = {
  [N in AgentSettingName]: (typeof AGENT_SETTINGS)[N]['kind'] extends K ? N : never
}[AgentSettingName]
export type WholeSettingName = NamesOf<'whole'>

/** Parts of a comma list; blanks around them and empty ones are nothing. */
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')

/** `problem`: a sentence that names the setting, and what would make sense. */
type Read<T> = { ok: true; value: T } | { ok: false; problem: string }

/** A whole number within the setting's bounds; empty is what it is by itself. */
export function readWhole(name: WholeSettingName, text: string): Read<number> {
  const { least, most, fallback } = AGENT_SETTINGS[name]
  if (text === '') return { ok: true, value: fallback }
  const value = Number(text)
  if (Number.isInteger(value) && value >= least && value <= most) return { ok: true, value }
  return { ok: false, problem: `${name} must be a whole number from ${least} to ${most}.` }
}

export function readPorts(name: NamesOf<'ports'>, text: string): Read<number[]> {
  const ports = listOf(text).map(Number)
  if (ports.every(port => Number.isInteger(port) && port >= 1 && port <= 65_535)) return { ok: true, value: ports }
  return { ok: false, problem: `${name} must list port numbers.` }
}

export function readPrefixes(name: NamesOf<'prefixes'>, text: string): Read<Prefix[]> {
  const read = parsePrefixes(listOf(text))
  if (read.ok) return { ok: true, value: read.prefixes }
  return { ok: false, problem: `${name} must list addresses or prefixes like 203.0.113.7; ${read.bad} is none.` }
}

export function readSwitch(name: NamesOf<'switch'>, text: string): Read<boolean> {
  const word = text || AGENT_SETTINGS[name].fallback
  if (word === 'on' || word === 'off') return { ok: true, value: word === 'on' }
  return { ok: false, problem: `${name} must be on or off.` }
}

/** So many characters of a list reach an environment file at most. */
const LONGEST = 10_000

/**
 * What a text means for a setting, in the one form that is written to the agent's environment: digits, words, and lists with
 * commas, nothing that a shell would read otherwise.
 */
export function readSetting(name: AgentSettingName, text: string): Read<string> {
  if (text.length > LONGEST) return { ok: false, problem: `${name} is too long.` }
  // Lists are typed one a line, too.
  const list = text.trim().replaceAll(/[\s,]+/g, ',')
  // An empty list where there is one by itself.
  const given = list === 'none' ? '' : list
  const { kind } = AGENT_SETTINGS[name]
  if (kind === 'whole') return map(readWhole(name as WholeSettingName, given), String)
  if (kind === 'ports') return map(readPorts(name as NamesOf<'ports'>, given), ports => [...new Set(ports)].join(','))
  if (kind === 'prefixes')
    return map(readPrefixes(name as NamesOf<'prefixes'>, given), list => list.map(one => one.text).join(','))
  return map(readSwitch(name as NamesOf<'switch'>, given), on => (on ? 'on' : 'off'))
}

const map = <T>(read: Read<T>, text: (value: T) => string): Read<string> =>
  read.ok ? { ok: true, value: text(read.value) } : read

export const fallbackOf = (name: AgentSettingName): string => String(AGENT_SETTINGS[name].fallback)
