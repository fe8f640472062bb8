import type { TunnelEffect } from '@netlet/contract'
import { type AgentOwner, agentOwner } from '@netlet/contract/agent'
import { AGENT_SETTING_NAMES, readSetting } from '@netlet/contract/agent-settings'
import { ROTATED_TOKEN_FILE, rotatedToken } from '@netlet/contract/agent-token'
import { hashToken } from '../../infra/secrets.ts'
import { type Layout, layoutOf, quote, serviceFileOf } from './layout.ts'
import { type Machine, contentOf } from './machine.ts'

/** How the agent on a machine is reached, as its own settings say. */
export type AgentConnection = { agentPort: number; proxyPort: number; token: string; certificate: string | null }

/** An agent's defaults for what its files leave out. */
const DEFAULTS = { agentPort: 65_533, proxyPort: 3128 }

/** Reads NAME=value lines as systemd and the shell do: the last one of a name counts, without its quotes. */
function readLines(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^\s*([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
    if (name) found.set(name, value.trim().replace(/^(["'])(.*)\1$/, '$2'))
  }
  return found
}

/** The content of a file on the machine; '' if there is none. It is never logged, because it may be a secret. */
const textOf = async (machine: Machine, path: string): Promise<string> => {
  const { code, stdout } = await machine.attempt(`cat ${quote(path)} 2> /dev/null`)
  return code === 0 ? stdout : ''
}

/** The settings of the installed agent: ours, then the operator's own, which take precedence. */
async function settingsThere(machine: Machine, layout: Layout): Promise<Map<string, string>> {
  const ours = await textOf(machine, layout.environment)
  return readLines(`${ours}\n${await textOf(machine, layout.local)}`)
}

/** Names that the operator's own file sets. They override the console's. */
export const namesInLocal = async (machine: Machine, layout: Layout): Promise<string[]> =>
  [...readLines(await textOf(machine, layout.local)).keys()].slice(0, 100)

/** The operators' settings of a release; null if it has none. */
export async function readReleaseSettings(machine: Machine, folder: string): Promise<Record<string, string> | null> {
  const text = await textOf(machine, `${folder}/agent.env`)
  if (text === '') return null
  const written = [...readLines(text)].flatMap(([key, value]) => {
    const name = AGENT_SETTING_NAMES.find(one => one === key)
    const read = name && readSetting(name, value)
    return name && read?.ok ? [[name, read.value] as const] : []
  })
  return Object.fromEntries(written)
}

/** How the agent of the current release is reached; null if its settings do not say. */
export async function readConnection(machine: Machine, layout: Layout): Promise<AgentConnection | null> {
  const settings = await settingsThere(machine, layout)
  const folder = settings.get('DATA_DIR') || layout.state
  const configured = settings.get('AGENT_TOKEN') || (await textOf(machine, `${folder}/agent/token`)).trim()
  const token = tokenInForce(configured, await textOf(machine, `${folder}/agent/${ROTATED_TOKEN_FILE}`))
  const certificateFile = settings.get('AGENT_TLS_CERT') ?? ''
  const certificate = certificateFile === '' ? null : await textOf(machine, certificateFile)
  const portOf = (name: string, fallback: number) => Number(settings.get(name) || fallback)
  const [agentPort, proxyPort] = [portOf('AGENT_PORT', DEFAULTS.agentPort), portOf('PROXY_PORT', DEFAULTS.proxyPort)]
  const isPort = (port: number) => Number.isInteger(port) && port >= 1 && port <= 65_535
  const isWhole = isPort(agentPort) && isPort(proxyPort) && /^[!-~]{8,512}$/.test(token)
  if (!isWhole || certificate === '') return null
  return { agentPort, proxyPort, token, certificate }
}

/** The token that the agent obeys: a console may have put another in the place of the configured one. */
function tokenInForce(configured: string, file: string): string {
  const rotated = rotatedToken.safeParse(readJson(file))
  const isOfThis = rotated.data?.instead_of === hashToken(configured).toString('hex')
  return isOfThis ? (rotated.data?.token ?? configured) : configured
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Who owns the agent on a machine, as its file says. Null: no console yet, or the file cannot be read. */
export async function readOwner(machine: Machine, layout: Layout): Promise<AgentOwner | null> {
  const folder = (await settingsThere(machine, layout)).get('DATA_DIR') || layout.state
  const text = await textOf(machine, `${folder}/agent/owner.json`)
  try {
    const read = agentOwner.safeParse(JSON.parse(text))
    return read.success ? read.data : null
  } catch {
    return null
  }
}

/** How an agent is kept, as the server's row stores it. @param digest SHA-256 of its service file */
export const serviceFingerprint = (systemd: boolean, digest: string): string =>
  `${systemd ? 'systemd' : 'alone'}:${digest}`

/**
 * What happens to the open tunnels. An agent hands them over if it can, runs under systemd and keeps its service file.
 * @param service as the last installation left it; null: unknown
 * @param handsOver whether its program can hand over; null: unknown
 * @param settingsOnly the program and its service file stay
 */
export function tunnelEffect(
  { service, handsOver }: { service: string | null; handsOver: boolean | null },
  { settingsOnly = false } = {}
): TunnelEffect {
  if (handsOver === false || service?.startsWith('alone:')) return 'restarts'
  if (service === null || handsOver === null) return 'unknown'
  return settingsOnly || service === serviceFingerprint(true, contentOf(serviceFileOf(layoutOf(''))).sha256)
    ? 'hands_over'
    : 'restarts'
}
