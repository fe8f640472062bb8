import type { AgentRoute } from '@netlet/contract/agent'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { parsePrefix, type Prefix } from './ip.ts'

/** Runs a program with `input` as its standard input. `code` is the exit status, or -1 if it cannot be started. */
export type RunCommand = (
  file: string,
  args: readonly string[],
  input?: string
) => Promise<{ code: number; output: string }>

/** Thousands of routes take some hundred kilobytes. */
const MAX_OUTPUT = 64 * 1024 * 1024

const runCommand: RunCommand = (file, args, input = '') =>
  new Promise(resolve => {
    const child = execFile(file, [...args], { timeout: 30_000, maxBuffer: MAX_OUTPUT }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, output: `${stdout}${stderr}`.trim() })
    })
    // The program may end before it reads everything. Its exit status tells.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })

const NONLOCAL_BIND = '/proc/sys/net/ipv6/ip_nonlocal_bind'
const loopback = parsePrefix('127.0.0.0/8')

/**
 * Makes each range local by one route ("AnyIP"): connections to all its addresses arrive here and may leave from them, without
 * an interface address for each. Loopback is always local.
 */
export class Routes {
  readonly #run: RunCommand
  readonly #platform: string
  readonly #allowBind: () => Promise<boolean>
  #state: AgentRoute[] = []

  /** Tests replace commands, the platform, and the switch that lets sockets bind to addresses of IPv6 ranges. */
  constructor(
    run: RunCommand = runCommand,
    platform: string = process.platform,
    allowBind: () => Promise<boolean> = allowNonlocalBind
  ) {
    this.#run = run
    this.#platform = platform
    this.#allowBind = allowBind
  }

  /** Each prefix after the last `load`. */
  get state(): readonly AgentRoute[] {
    return this.#state
  }

  /** Makes `prefixes` local and removes the routes of `removed`. The result says what an operator has to do for each prefix. */
  async load(prefixes: readonly string[], removed: readonly string[]): Promise<readonly AgentRoute[]> {
    const wanted = parsed(prefixes)
    if (this.#platform !== 'linux') return (this.#state = wanted.map(withoutAnyIp))
    const gone = parsed(removed).filter(prefix => !isLoopback(prefix))
    const states = new Map<Prefix, AgentRoute>()
    for (const family of [4, 6] as const) {
      const inFamily = (prefix: Prefix): boolean => prefix.family === family
      await this.#change(family, 'del', gone.filter(inFamily))
      const own = wanted.filter(inFamily)
      const routed = own.filter(prefix => !isLoopback(prefix))
      for (const prefix of own) states.set(prefix, { prefix: prefix.text, local: true })
      const { commands, links } = await this.#loadFamily(family, routed)
      for (const [prefix, command] of commands) states.set(prefix, { prefix: prefix.text, local: false, command })
      for (const [prefix, link] of links) {
        const state = states.get(prefix)
        if (state !== undefined) states.set(prefix, { ...state, link })
      }
    }
    return (this.#state = wanted.flatMap(prefix => states.get(prefix) ?? []))
  }

  /**
   * Runs a fixed number of commands, for any number of prefixes.
   * @returns `commands`: what to run for prefixes that are not local; `links`: where IPv6 prefixes are
   */
  async #loadFamily(family: 4 | 6, prefixes: readonly Prefix[]): Promise<Loaded> {
    const commands = new Map<Prefix, string>()
    const places: Loaded['links'] = new Map()
    if (prefixes.length === 0) return { commands, links: places }
    const { gateways, links, isRead } = await this.#readLinks(family)
    const linkOf = (prefix: Prefix): Link | undefined => links.find(other => overlaps(prefix, other))
    if (family === 6) {
      for (const prefix of prefixes)
        places.set(prefix, isRead ? (linkOf(prefix) === undefined ? 'routed' : 'on_link') : 'unknown')
    }
    for (const prefix of prefixes) {
      const gateway = gateways.find(address => contains(prefix, address))
      if (gateway !== undefined)
        commands.set(prefix, `The default gateway ${gateway.address} lies inside: load smaller prefixes around it.`)
    }
    const possible = prefixes.filter(prefix => !commands.has(prefix))
    const before = await this.#readLocal(family)
    const added = possible.filter(prefix => !before.has(prefix.text))
    await this.#change(family, 'replace', added)
    const now = added.length === 0 ? before : await this.#readLocal(family)
    // IPv4 sockets may bind to the addresses of a local route. IPv6 needs this switch too.
    const nonlocal = family === 4 || (await this.#allowBind())
    for (const prefix of possible) {
      const missing: string[] = []
      if (!now.has(prefix.text)) missing.push(`ip ${routeArgs(prefix, 'replace').join(' ')}`)
      if (!nonlocal) missing.push('sysctl -w net.ipv6.ip_nonlocal_bind=1')
      const link = linkOf(prefix)
      if (missing.length === 0 && link !== undefined) missing.push(answerNeighbours(prefix, link.device))
      if (missing.length > 0) commands.set(prefix, missing.join(' && '))
    }
    return { commands, links: places }
  }

  async #change(family: 4 | 6, verb: 'replace' | 'del', prefixes: readonly Prefix[]): Promise<void> {
    if (prefixes.length === 0) return
    const lines = prefixes.map(prefix => `${routeWords(prefix, verb).join(' ')}\n`)
    await this.#run('ip', [...familyArgs(family), '-force', '-batch', '-'], lines.join(''))
  }

  /** Prefixes with a local route of exactly their size. */
  async #readLocal(family: 4 | 6): Promise<Set<string>> {
    const shown = await this.#run('ip', [...familyArgs(family), 'route', 'show', 'table', 'local', 'type', 'local'])
    const texts = [...shown.output.matchAll(/^local (\S+)/gm)].map(([, text = '']) => text)
    return new Set(parsed(texts).map(prefix => prefix.text))
  }

  /**
   * The default gateways, and the IPv6 ranges on a link, where routers ask for each address. For IPv4 the kernel answers for all
   * local addresses.
   */
  async #readLinks(family: 4 | 6): Promise<{ gateways: Gateway[]; links: Link[]; isRead: boolean }> {
    const shown = await this.#run('ip', [...familyArgs(family), 'route', 'show'])
    const gateways: Gateway[] = []
    const links: Link[] = []
    for (const line of shown.output.split('\n')) {
      const address = line.startsWith('default ') ? /\bvia (\S+)/.exec(line)?.[1] : undefined
      const gateway = address === undefined ? null : parsePrefix(address)
      if (gateway !== null && address !== undefined) gateways.push({ ...gateway, address })
      const [, text = '', device = ''] = /^(\S+\/\d+) dev (\S+)/.exec(line) ?? []
      const prefix = family === 6 && device !== 'lo' ? parsePrefix(text) : null
      if (prefix !== null) links.push({ ...prefix, device })
    }
    return { gateways, links, isRead: shown.code === 0 }
  }
}

type Loaded = { commands: Map<Prefix, string>; links: Map<Prefix, NonNullable<AgentRoute['link']>> }
type Gateway = Prefix & { address: string }
type Link = Prefix & { device: string }

const parsed = (texts: readonly string[]): Prefix[] => texts.flatMap(text => parsePrefix(text) ?? [])

const contains = (outer: Prefix, inner: Prefix): boolean =>
  outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last

const overlaps = (one: Prefix, other: Prefix): boolean =>
  one.family === other.family && one.first <= other.last && other.first <= one.last

const withoutAnyIp = (prefix: Prefix): AgentRoute =>
  isLoopback(prefix)
    ? { prefix: prefix.text, local: true }
    : {
        prefix: prefix.text,
        local: false,
        command: 'This system has no AnyIP. Add each address to an interface.'
      }

/** The kernel answers neighbour solicitations only for addresses of interfaces, not for a local route. */
const answerNeighbours = (prefix: Prefix, device: string): string =>
  `Have ${prefix.text} routed to this server: it is on the link of ${device}, where nothing answers for its addresses. ` +
  `Or answer with ndppd: proxy ${device} { rule ${prefix.text} { static } }. ` +
  `For single addresses the kernel does: sysctl -w net.ipv6.conf.${device}.proxy_ndp=1, then ip -6 neigh add proxy ADDRESS dev ${device}`

const isLoopback = (prefix: Prefix): boolean =>
  loopback !== null && prefix.family === 4 && loopback.first <= prefix.first && prefix.last <= loopback.last

const familyArgs = (family: 4 | 6): string[] => (family === 6 ? ['-6'] : [])

const routeWords = (prefix: Prefix, verb: 'replace' | 'del'): string[] => [
  'route',
  verb,
  'local',
  prefix.text,
  'dev',
  'lo'
]

const routeArgs = (prefix: Prefix, verb: 'replace' | 'del'): string[] => [
  ...familyArgs(prefix.family),
  ...routeWords(prefix, verb)
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
