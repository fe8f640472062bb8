import { AGENT_SETTING_NAMES, readSetting } from '@netlet/contract/agent-settings'
import { agentOwner, type AgentOwner } from '@netlet/contract/agent'
import { quote, type Layout } from './layout.ts'
import type { Machine } from './machine.ts'

/** By what the agent on a machine is reached, as its own settings say. */
export type Reached = { agentPort: number; proxyPort: number; token: string; certificate: string | null }

/** The defaults of an agent, for what none of its files says. */
const DEFAULTS = { agentPort: 65_533, proxyPort: 3128 }

/** NAME=value lines, the last one of a name; quotes around a value are none of it, as for systemd and the shell. */
function readLines(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^\s*([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
    if (name) found.set(name, value.trim().replace(/^(["'])(.*)\1$/, '$2'))
  }
  return found
}

/** What a file of the machine says; '' where it is none. Its content is in no log: it may be a secret. */
const textOf = async (machine: Machine, path: string): Promise<string> => {
  const { code, stdout } = await machine.attempt(`cat ${quote(path)} 2> /dev/null`)
  return code === 0 ? stdout : ''
}

/** The settings of the agent that is installed there, ours and then the operator's own, which win. */
async function settingsThere(machine: Machine, layout: Layout): Promise<Map<string, string>> {
  const ours = await textOf(machine, layout.environment)
  return readLines(`${ours}\n${await textOf(machine, layout.local)}`)
}

/** Names that the operator's own file sets: these win over whatever the console says. */
export const namesInLocal = async (machine: Machine, layout: Layout): Promise<string[]> =>
  [...readLines(await textOf(machine, layout.local)).keys()].slice(0, 100)

/** What operators have set for the server, as it was last seen to work there; null where nothing is kept. */
export async function settingsKept(machine: Machine, layout: Layout): Promise<Record<string, string> | null> {
  const text = await textOf(machine, `${layout.good}/agent.env`)
  if (text === '') return null
  const written = [...readLines(text)].flatMap(([key, value]) => {
    const name = AGENT_SETTING_NAMES.find(one => one === key)
    const read = name && readSetting(name, value)
    return name && read?.ok ? [[name, read.value] as const] : []
  })
  return Object.fromEntries(written)
}

/** By what the agent that was put back is reached; null where its settings do not say. */
export async function readReached(machine: Machine, layout: Layout): Promise<Reached | null> {
  const settings = await settingsThere(machine, layout)
  const folder = settings.get('DATA_DIR') || layout.state
  const token = settings.get('AGENT_TOKEN') || (await textOf(machine, `${folder}/agent/token`)).trim()
  const certificateFile = settings.get('AGENT_TLS_CERT') ?? ''
  const certificate = certificateFile === '' ? null : await textOf(machine, certificateFile)
  const portOf = (name: string, fallback: number) => Number(settings.get(name) || fallback)
  const [agentPort, proxyPort] = [portOf('AGENT_PORT', DEFAULTS.agentPort), portOf('PROXY_PORT', DEFAULTS.proxyPort)]
  const isPort = (port: number) => Number.isInteger(port) && port >= 1 && port <= 65_535
  const isWhole = isPort(agentPort) && isPort(proxyPort) && /^[!-~]{8,512}$/.test(token)
  if (!isWhole || certificate === '') return null
  return { agentPort, proxyPort, token, certificate }
}

/** Whose the agent on a machine is, as its file says. Null: nobody's yet, or the file cannot be read, which no agent starts with. */
export async function ownerThere(machine: Machine, layout: Layout): Promise<AgentOwner | null> {
  const folder = (await settingsThere(machine, layout)).get('DATA_DIR') || layout.state
  const text = await textOf(machine, `${folder}/agent/owner.json`)
  try {
    const read = agentOwner.safeParse(JSON.parse(text))
    return read.success ? read.data : null
  } catch {
    return null
  }
}
