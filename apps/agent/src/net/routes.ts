import type { AgentRoute } from '@netlet/contract/agent'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { parsePrefix, type Prefix } from './ip.ts'

/** Runs a program; `code` is its exit status, or -1 where it cannot be started. */
export type RunCommand = (file: string, args: readonly string[]) => Promise<{ code: number; output: string }>

const runCommand: RunCommand = (file, args) =>
  new Promise(resolve => {
    execFile(file, [...args], { timeout: 10_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, output: `${stdout}${stderr}`.trim() })
    })
  })

const NONLOCAL_BIND = '/proc/sys/net/ipv6/ip_nonlocal_bind'
const loopback = parsePrefix('127.0.0.0/8')

/**
 * Makes whole ranges local with one route each ("AnyIP"), so that connections to any of their addresses arrive here and
 * may leave from them, without an interface address for each. Loopback is local by nature.
 */
export class Routes {
  readonly #run: RunCommand
  readonly #platform: string
  #state: AgentRoute[] = []

  constructor(run: RunCommand = runCommand, platform: string = process.platform) {
    this.#run = run
    this.#platform = platform
  }

  /** How each prefix stood after the last `load`. */
  get state(): readonly AgentRoute[] {
    return this.#state
  }

  /** Makes these prefixes local and the `removed` ones foreign again. Says per prefix what an operator has to do. */
  async load(prefixes: readonly string[], removed: readonly string[]): Promise<readonly AgentRoute[]> {
    for (const text of removed) {
      const prefix = parsePrefix(text)
      if (prefix !== null && !isLoopback(prefix) && this.#platform === 'linux')
        await this.#run('ip', routeArgs(prefix, 'del'))
    }
    const state: AgentRoute[] = []
    for (const text of prefixes) {
      const prefix = parsePrefix(text)
      if (prefix !== null) state.push(await this.#loadOne(prefix))
    }
    this.#state = state
    return state
  }

  async #loadOne(prefix: Prefix): Promise<AgentRoute> {
    if (isLoopback(prefix)) return { prefix: prefix.text, local: true }
    if (this.#platform !== 'linux') {
      return {
        prefix: prefix.text,
        local: false,
        command: 'Add each address to an interface: this system has no AnyIP.'
      }
    }
    const missing: string[] = []
    const gateway = await this.#gatewayInside(prefix)
    if (gateway !== null) {
      const command = `The default gateway ${gateway} lies inside: load smaller prefixes around it.`
      return { prefix: prefix.text, local: false, command }
    }
    const shown = await this.#run('ip', [...family(prefix), 'route', 'show', 'table', 'local', 'exact', prefix.text])
    if (shown.code !== 0 || !/^local\b/m.test(shown.output)) {
      const added = await this.#run('ip', routeArgs(prefix, 'replace'))
      if (added.code !== 0) missing.push(`ip ${routeArgs(prefix, 'replace').join(' ')}`)
    }
    // For IPv4 a local route lets a socket bind to its addresses; IPv6 wants this switch as well.
    if (prefix.family === 6 && !(await allowNonlocalBind())) missing.push('sysctl -w net.ipv6.ip_nonlocal_bind=1')
    return missing.length === 0
      ? { prefix: prefix.text, local: true }
      : { prefix: prefix.text, local: false, command: missing.join(' && ') }
  }

  async #gatewayInside(prefix: Prefix): Promise<string | null> {
    const shown = await this.#run('ip', [...family(prefix), 'route', 'show', 'default'])
    for (const [, text = ''] of shown.output.matchAll(/\bvia (\S+)/g)) {
      const gateway = parsePrefix(text)
      if (gateway?.family === prefix.family && prefix.first <= gateway.first && gateway.last <= prefix.last) return text
    }
    return null
  }
}

const isLoopback = (prefix: Prefix): boolean =>
  loopback !== null && prefix.family === 4 && loopback.first <= prefix.first && prefix.last <= loopback.last

const family = (prefix: Prefix): string[] => (prefix.family === 6 ? ['-6'] : [])

const routeArgs = (prefix: Prefix, verb: 'replace' | 'del'): string[] => [
  ...family(prefix),
  'route',
  verb,
  'local',
  prefix.text,
  'dev',
  'lo'
]

async function allowNonlocalBind(): Promise<boolean> {
  try {
    if ((await readFile(NONLOCAL_BIND, 'utf8')).trim() === '1') return true
    await writeFile(NONLOCAL_BIND, '1')
    return true
  } catch {
    return false
  }
}
