import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import type { Control } from './api/control.ts'
import { managementApi, readTls } from './api/server.ts'
import type { AgentConfig } from './config.ts'
import { AccessLog, type WriteLines } from './log/access-log.ts'
import type { Resolve } from './net/resolver.ts'
import { Routes, type RunCommand } from './net/routes.ts'
import { lockFolder, readOrCreateToken } from './state/folder.ts'
import { Store } from './state/store.ts'
import { TrafficTotals } from './state/traffic.ts'
import type { Backend } from './workers/backend.ts'
import { localBackend, type PlaneConfig } from './workers/local.ts'
import type { TrafficRow } from './proxy/traffic-meter.ts'
import { nextTurn } from './turns.ts'
import { WorkerPool } from './workers/pool.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

export type Agent = { port: number; proxyPort: number; token: string; routes: Routes; close: () => Promise<void> }
export type StartResult = { ok: true; agent: Agent } | { ok: false; message: string }

/** The log, the file of the agent's program where it does not run from its sources, and what tests put in place of DNS, commands and the clock. */
export type AgentOptions = {
  log: Logger
  program?: string
  resolve?: Resolve
  run?: RunCommand
  now?: () => number
}

const COLLECT_MS = 1000
const SAVE_EVERY = 10

const listenProblem = (what: string, setting: string, host: string, port: number, code: string): string => {
  if (code === 'EADDRINUSE') return `${what} port ${port} is in use. Stop the program that holds it, or set ${setting}.`
  if (code === 'EACCES') return `${what} port ${port} needs more rights. Set ${setting} to a port above 1023.`
  return `The agent cannot listen on ${host}:${port} (${code}). Check ${setting} and the host setting beside it.`
}

/** Starts an agent: state from disk, proxy listeners, management API. A problem comes back as one sentence. */
export async function startAgent(config: AgentConfig, options: AgentOptions): Promise<StartResult> {
  const { log } = options
  const https = config.tls === null ? null : await readTls(config.tls)
  if (config.tls !== null && https === null) {
    return { ok: false, message: 'The files of AGENT_TLS_CERT and AGENT_TLS_KEY cannot be read.' }
  }
  const folder = await lockFolder(config.folder)
  if (!folder.ok) return folder
  const undo: Array<() => unknown> = [folder.unlock]
  const fail = async (message: string): Promise<StartResult> => {
    for (const step of undo.toReversed()) await step()
    return { ok: false, message }
  }
  const token = config.token ?? (await readOrCreateToken(folder.path))
  const accessLog = await AccessLog.open({ folder: folder.path, flushMs: 500, ...config.log })
  undo.push(() => accessLog.close())
  const totals = await TrafficTotals.open(folder.path, options.now ?? Date.now)

  const opened = await Store.open(folder.path, {
    publish: ops => backend?.publish(ops) ?? Promise.resolve(),
    writeFailed: error => log.error({ err: error }, 'The state could not be written. Free some disk space.')
  })
  if (!opened.ok) return fail(opened.message)
  const { store } = opened
  totals.leasedTo = user => store.prefixesOf(user)
  undo.push(() => store.close())

  let backend: Backend | null = null
  const routes = new Routes(options.run)
  const ready = Promise.withResolvers<void>()
  const takeCounts = async (pieces: Iterable<TrafficRow[]>): Promise<void> => {
    for (const rows of pieces) {
      totals.add(rows)
      await nextTurn()
    }
  }
  let collecting: Promise<void> = Promise.resolve()
  // One after the other: who asks gets what an earlier one has not taken over yet, too.
  const collect = (): Promise<void> =>
    (collecting = collecting.catch(() => {}).then(async () => takeCounts((await backend?.collect()) ?? [])))
  const control: Control = {
    store,
    routes,
    accessLog,
    ready: ready.promise,
    proxyPort: 0,
    traffic: async () => {
      await collect()
      return totals.report()
    },
    health: () => {
      const { now, wanted } = backend?.serving() ?? { now: 0, wanted: config.workers }
      const status = now === wanted ? 'ok' : 'degraded'
      return { status, version, workers: now, uptime_seconds: Math.floor(process.uptime()) }
    },
    load: () => ({ connections: backend?.connections() ?? 0, ...totals.all }),
    flushLog: collect,
    reload: async () => {
      backend?.reload()
      warnOfRoutes(log, await routes.load(await store.read(state => state.prefixes), []))
    }
  }
  // The management port comes first: the data plane has to know it, because no client may reach it.
  const api = managementApi(control, token, log, https)
  undo.push(() => api.close())
  try {
    await api.listen({ host: config.host, port: config.port })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    return fail(listenProblem('The management', 'AGENT_PORT', config.host, config.port, code))
  }
  const address = api.server.address()
  const port = address !== null && typeof address !== 'string' ? address.port : config.port

  warnOfRoutes(log, await routes.load(await store.read(state => state.prefixes), []))
  const made = makeBackend({ ...config, port }, (text, lines) => accessLog.add(text, lines), options)
  backend = made
  const started = await made.start(store)
  if (!started.ok) {
    undo.push(() => made.close())
    return fail(listenProblem('The proxy', 'PROXY_PORT', started.host, config.proxyPort, started.code))
  }
  control.proxyPort = started.port
  ready.resolve()

  let rounds = 0
  const timer = setInterval(() => {
    void collect()
      .then(() => (++rounds % SAVE_EVERY === 0 ? totals.saveSometimes() : undefined))
      .catch((error: unknown) => log.error({ err: error }, 'Traffic figures could not be saved.'))
  }, COLLECT_MS)

  const close = async (): Promise<void> => {
    clearInterval(timer)
    await api.close()
    await collecting.catch(() => {})
    await takeCounts(await made.close())
    await totals.save().catch((error: unknown) => log.error({ err: error }, 'Traffic figures could not be saved.'))
    await accessLog.close()
    await store.close()
    folder.unlock()
  }
  return { ok: true, agent: { port, proxyPort: started.port, token, routes, close } }
}

function makeBackend(config: AgentConfig, write: WriteLines, { log, resolve, program }: AgentOptions): Backend {
  const plane: PlaneConfig = {
    proxyHosts: config.proxyHosts,
    proxyPort: config.proxyPort,
    allowDestinations: config.allowDestinations,
    denyPorts: config.denyPorts,
    ownPorts: config.ownPorts,
    // Whatever an operator allows: nobody manages the agent through its own proxy.
    protectedPorts: [...config.protectedPorts, config.port],
    echNames: config.echNames,
    sourcePorts: config.sourcePorts,
    limits: config.limits,
    shared: config.workers > 1
  }
  // Management in a process of its own: whatever it is asked, no tunnel waits for it. Tests have all in one.
  return config.workers > 0 && resolve === undefined
    ? new WorkerPool(plane, { count: config.workers, program }, write, message => log.error(message))
    : localBackend(plane, line => write(line, 1), resolve)
}

function warnOfRoutes(log: Logger, routes: Awaited<ReturnType<Routes['load']>>): void {
  for (const { prefix, local, command } of routes) {
    if (!local) log.warn({ prefix, command }, `${prefix} does not work yet. As root: ${command}`)
  }
}
