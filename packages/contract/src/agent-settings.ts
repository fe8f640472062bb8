// Agent settings that operators can set per server. The agent parses its environment with them, and the console uses
// the same code to check input.
import { parsePrefixes, type Prefix } from './prefixes.ts'

type Unit = 'seconds' | 'per_second' | 'per_minute' | 'megabytes'
type Kind =
  | { kind: 'whole'; least: number; most: number; fallback: number; unit?: Unit }
  | { kind: 'ports' | 'prefixes'; fallback: string }
  | { kind: 'switch'; fallback: 'on' | 'off' }

const count = (fallback: number, least = 0, most = 1_000_000) => ({ kind: 'whole', least, most, fallback }) as const
const rate = (fallback: number) => ({ ...count(fallback), unit: 'per_second' }) as const
const alarm = (fallback: number) => ({ ...count(fallback, 1, 100_000_000), unit: 'per_minute' }) as const

/**
 * The version of the settings below. It rises with each new setting and each new syntax of a value. An agent reports it
 * as `settings_format`; agents that do not report it have 2, and those that report nothing about their program have 1.
 */
export const AGENT_SETTINGS_FORMAT = 3

/** In groups, as in the console. `fallback` is the default. */
export const AGENT_SETTINGS = {
  AGENT_ALLOW_CLIENTS: { kind: 'prefixes', fallback: '' },
  AGENT_ALLOW_PORTS: { kind: 'ports', fallback: '' },
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
  AGENT_FAILED_LOGINS: count(100, 1),
  AGENT_FAILED_LOGIN_SECONDS: { ...count(1, 1, 86_400), unit: 'seconds' },
  AGENT_ALARM_SCAN: alarm(300),
  AGENT_ALARM_FLOOD: alarm(6000),
  AGENT_ALARM_MAIL: alarm(30),
  AGENT_ALARM_GUESSING: alarm(120),
  AGENT_LOG_MEGABYTES: { ...count(50, 1, 100_000), unit: 'megabytes' },
  AGENT_LOG_FILES: count(5, 0, 100)
} as const satisfies Record<string, Kind>

/** The first format that supports a setting, unless it is 1. */
const SINCE: Readonly<Partial<Record<keyof typeof AGENT_SETTINGS, number>>> = {
  AGENT_ALLOW_CLIENTS: 2,
  AGENT_ALLOW_PORTS: 3,
  AGENT_OWN_PORTS: 2,
  AGENT_UDP: 2,
  AGENT_DRAIN_SECONDS: 2,
  AGENT_ADDRESS_CONNECTIONS: 2,
  AGENT_CUSTOMER_CONNECTIONS: 2,
  AGENT_CLIENT_CONNECTIONS: 2,
  AGENT_USER_RATE: 2,
  AGENT_ADDRESS_RATE: 2,
  AGENT_CLIENT_RATE: 2,
  AGENT_FAILED_LOGINS: 3,
  AGENT_FAILED_LOGIN_SECONDS: 3,
  AGENT_ALARM_SCAN: 2,
  AGENT_ALARM_FLOOD: 2,
  AGENT_ALARM_MAIL: 2,
  AGENT_ALARM_GUESSING: 2
}
/** Older agents accept only single ports, not ranges. */
const RANGES_SINCE = 3

/**
 * How an agent of this format handles a setting. `ignores`: it does not know the name. `fails`: it does not know the
 * syntax and would not start.
 */
export function takenBy(format: number, name: AgentSettingName, text: string): 'takes' | 'ignores' | 'fails' {
  if ((SINCE[name] ?? 1) > format) return 'ignores'
  const isNewer = AGENT_SETTINGS[name].kind === 'ports' && text.includes('-') && format < RANGES_SINCE
  return isNewer ? 'fails' : 'takes'
}

export type AgentSettingName = keyof typeof AGENT_SETTINGS
export const AGENT_SETTING_NAMES = Object.keys(AGENT_SETTINGS) as AgentSettingName[]
type NamesOf<K extends Kind['kind']> = {
  [N in AgentSettingName]: (typeof AGENT_SETTINGS)[N]['kind'] extends K ? N : never
}[AgentSettingName]
export type WholeSettingName = NamesOf<'whole'>

/** The parts of a comma-separated list, trimmed, without empty ones. */
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')

/** `problem`: a sentence with the setting's name and what is allowed. */
type Read<T> = { ok: true; value: T } | { ok: false; problem: string }

/** A whole number within the setting's limits. Empty means the default. */
export function readWhole(name: WholeSettingName, text: string): Read<number> {
  const { least, most, fallback } = AGENT_SETTINGS[name]
  if (text === '') return { ok: true, value: fallback }
  const value = Number(text)
  if (Number.isInteger(value) && value >= least && value <= most) return { ok: true, value }
  return { ok: false, problem: `${name} must be a whole number from ${least} to ${most}.` }
}

/** Ports from `first` to `last`, inclusive. */
export type PortRange = { first: number; last: number }

/** Ports and ranges: `80`, `8000-8999`. */
export function readPorts(name: NamesOf<'ports'>, text: string): Read<PortRange[]> {
  const ranges = listOf(text).map(part => {
    const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? []
    return { first: Number(first), last: Number(last) }
  })
  if (ranges.every(({ first, last }) => first >= 1 && first <= last && last <= 65_535))
    return { ok: true, value: ranges }
  return { ok: false, problem: `${name} must list port numbers and ranges like 8000-8999.` }
}

const rangeText = ({ first, last }: PortRange): string => (first === last ? String(first) : `${first}-${last}`)

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

/** Largest length of a list in an environment file. */
const LONGEST = 10_000

/**
 * Normalises a setting's text for the agent's environment file: digits, words and comma-separated lists, without
 * characters that a shell would interpret.
 */
export function readSetting(name: AgentSettingName, text: string): Read<string> {
  if (text.length > LONGEST) return { ok: false, problem: `${name} is too long.` }
  // Lists may also be typed one per line.
  const list = text.trim().replaceAll(/[\s,]+/g, ',')
  // 'none' is an empty list for settings whose default is not empty.
  const given = list === 'none' ? '' : list
  const { kind } = AGENT_SETTINGS[name]
  if (kind === 'whole') return map(readWhole(name as WholeSettingName, given), String)
  if (kind === 'ports')
    return map(readPorts(name as NamesOf<'ports'>, given), ports => [...new Set(ports.map(rangeText))].join(','))
  if (kind === 'prefixes')
    return map(readPrefixes(name as NamesOf<'prefixes'>, given), list => list.map(one => one.text).join(','))
  return map(readSwitch(name as NamesOf<'switch'>, given), on => (on ? 'on' : 'off'))
}

const map = <T>(read: Read<T>, text: (value: T) => string): Read<string> =>
  read.ok ? { ok: true, value: text(read.value) } : read

export const fallbackOf = (name: AgentSettingName): string => String(AGENT_SETTINGS[name].fallback)
