import { realpath } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { feedWatchdog } from '@netlet/contract/systemd'
import { closeApi, listenApi, managementApi } from './api/server.ts'
import { type AgentConfig, defaultTimes, type Times } from './config.ts'
import { WatchedCertificate, endOf, namesOf, type Pem, readPem } from './certificate.ts'
import { Collector } from './collector.ts'
import { LogFollower, type WriteLines } from './log/access-log.ts'
import { fits, type Listener } from './net/listen-handle.ts'
import { notifyMainProcess } from './main-process.ts'
import { makeControl, version } from './make-control.ts'
import type { Resolve } from './net/resolver.ts'
import { Routes, type RunCommand } from './net/routes.ts'
import { lockFolder, openFiles, readOrCreateSessionKey } from './state/folder.ts'
import { type Lock, lockFrom } from './state/lock.ts'
import type { Op } from './state/definitions.ts'
import { Store } from './state/store.ts'
import { Alarms } from './state/alarms.ts'
import { Generations } from './takeover/generations.ts'
import { type HandingOver, HandOver, LineSink } from './takeover/hand-over.ts'
import type { Handed, Predecessor } from './takeover/predecessor.ts'
import type { Backend } from './workers/backend.ts'
import { connectionsWithin, handleLimit, ProcessMeter } from './workers/process-figures.ts'
import { localBackend, type PlaneConfig } from './workers/local.ts'
import { ProxyTls } from './proxy-tls.ts'
import { WorkerPool } from './workers/pool.ts'

export type Agent = {
  port: number
  proxyPort: number
  token: string
  routes: Routes
  renewCertificate: () => Promise<void>
  /** Hands this agent over to a new process. */
  handOver: HandOver
  close: () => Promise<void>
}
export type StartResult = { ok: true; agent: Agent } | { ok: false; message: string }

/** `program` is the bundled file, if the agent does not run from sources. Tests replace DNS, commands, clock and times. */
export type AgentOptions = {
  log: Logger
  program?: string
  /** The program's path as the installation names it: a link that an upgrade changes. */
  path?: string
  resolve?: Resolve
  run?: RunCommand
  now?: () => number
  times?: Partial<Times>
}

/** Heap growth between collections, in percent. V8's default is several times higher: a few long lists fill it permanently. */
const HEAP_GROWTH = '--heap-growing-percent=50'
/** For systemd's watchdog: all workers must have answered within this time. A worker starts faster. */
const HEALTHY_MS = 75_000
/** How long to wait for a killed process to release its lock and ports. */
const RELEASE_MS = 5000

const listenProblem = (what: string, setting: string, host: string, port: number, code: string): string => {
  if (code === 'EADDRINUSE') return `${what} port ${port} is in use. Stop the program that holds it, or set ${setting}.`
  if (code === 'EACCES') return `${what} port ${port} needs more rights. Set ${setting} to a port above 1023.`
  return `The agent cannot listen on ${host}:${port} (${code}). Check ${setting} and the host setting beside it.`
}

/**
 * Starts an agent: state from disk, proxy listeners, management API. An expected failure returns one sentence.
 * @param before the process to take over from; it serves until this one is ready
 */
export async function startAgent(
  config: AgentConfig,
  options: AgentOptions,
  before: Predecessor | null = null
): Promise<StartResult> {
  const { log } = options
  const now = options.now ?? Date.now
  const { collectMs, restartMs, lookMs } = { ...defaultTimes, ...options.times }
  let backend: Generations | null = null
  const https = config.tls && (await readPem(config.tls).catch((error: Error) => error))
  if (https instanceof Error) {
    const message = `The files of AGENT_TLS_CERT and AGENT_TLS_KEY cannot be read, or are not a pair: ${https.message}.`
    return { ok: false, message }
  }
  const certificate =
    config.proxyTls === null
      ? null
      : await WatchedCertificate.open(
          config.proxyTls,
          pem => backend?.secure(pem),
          message => log.error(message),
          lookMs
        )
  if (certificate?.pem === null) {
    certificate.close()
    return { ok: false, message: 'The files of PROXY_TLS_CERT and PROXY_TLS_KEY cannot be read, or are not a pair.' }
  }
  const undo: Array<() => unknown> = [() => certificate?.close()]
  const fail = async (message: string): Promise<StartResult> => {
    for (const step of undo.toReversed()) await step()
    return { ok: false, message }
  }
  // If the other process is already gone, this is an ordinary start.
  const begin = (await before?.begin()) ?? null
  if (begin !== null && begin.format !== TAKEOVER_FORMAT) return fail('The new program uses another takeover method.')
  if (begin !== null && (await realpath(config.folder).catch(() => '')) !== begin.folder) {
    return fail('DATA_DIR has changed, which requires a restart.')
  }
  let lock: Lock | null = null
  undo.push(() => (before === null || before.isGone ? lock?.unlock() : lock?.leave()))
  const takeFolder = async (): Promise<{ ok: true; path: string } | { ok: false; message: string }> => {
    const folder = await lockFolder(config.folder, before === null ? 0 : RELEASE_MS)
    if (folder.ok) lock = folder.lock
    return folder
  }
  const folder = begin === null ? await takeFolder() : { ok: true as const, path: begin.folder }
  if (!folder.ok) return fail(folder.message)
  const sessionKey = await readOrCreateSessionKey(folder.path).catch((error: Error) => error)
  if (sessionKey instanceof Error) return fail(`The key of sessions cannot be used: ${sessionKey.message}`)
  const proxyTls = await ProxyTls.open(folder.path, certificate, {
    changed: pem => backend?.secure(pem),
    tell: message => log.error(message),
    lookMs
  })
  undo.push(() => proxyTls.close())

  const hooks = {
    publish: (ops: Op[]) => backend?.publish(ops) ?? Promise.resolve(),
    writeFailed: (error: unknown) => log.error({ err: error }, 'The state could not be written. Free some disk space.')
  }
  const opened = await (begin === null
    ? Store.open(folder.path, hooks)
    : Store.follow(folder.path, begin.journal, hooks))
  if (!opened.ok) return fail(opened.message)
  const { store } = opened
  undo.push(() => store.close())

  const routes = new Routes(options.run)
  const loadRoutes = async (): Promise<void> =>
    warnOfRoutes(log, await routes.load(await store.read(state => state.prefixes), []))
  const lines = new LineSink(null)
  const { connections, warning } = connectionsWithin(config.limits.connections, handleLimit())
  const limits = { ...config.limits, connections }
  const make = (port: number): Generations => {
    const made = new Generations(
      makeBackend({ ...config, limits, port, sessionKey, restartMs }, proxyTls.pem, lines.write, options)
    )
    undo.push(() => made.close())
    return made
  }

  let handed: Handed | null = null
  if (begin !== null && before !== null) {
    await loadRoutes()
    backend = make(config.port === 0 ? begin.port : config.port)
    if (!(await backend.prepare(store))) return fail('A worker of the new program ended before it knew the state.')
    handed = await before.takeState()
    if (handed === null) return fail('The process that serves did not let go of the state.')
    // Null: the other process is gone and has released the lock.
    if (handed.lock !== null) lock = lockFrom(folder.path, handed.lock.name, handed.lock.handle)
    else {
      const taken = await takeFolder()
      if (!taken.ok) return fail(taken.message)
    }
    const taken = await store.takeOver()
    if (!taken.ok) return fail(taken.message)
    await backend.publish(taken.ops)
    if (taken.ops.some(op => op.op === 'prefixes')) await loadRoutes()
    await proxyTls.reload()
  }

  const read = await openFiles(folder.path, config, now)
  if (!read.ok) return fail(read.message)
  const { accessLog, totals } = read.files
  undo.push(() => accessLog.close())
  totals.leaseOf = user => store.leaseOf(user)
  const follower = new LogFollower()
  const alarms = new Alarms(now)
  const meter = new ProcessMeter()
  undo.push(() => meter.close())
  const tryAgain = () => Promise.all([store, read.files.owner, read.files.token, proxyTls].map(file => file.tryAgain()))
  const collecting = { backend: () => backend, totals, alarms, meter, log, tryAgain, collectMs }
  const collector = new Collector(collecting, await meter.read())
  const ready = Promise.withResolvers<void>()
  const handingOver: HandingOver = {
    path: options.path ?? options.program ?? '',
    servesSince: new Date(now()).toISOString(),
    isUnderWay: false,
    isOver: false,
    last: { state: 'none', reason: null, at: null }
  }
  const counted = { alarms, follower, collector, handingOver }
  const stored = { config, now, store, files: read.files, routes, loadRoutes }
  const apiEnds = https && endOf(https.cert)
  const certificates = () => {
    const shown = proxyTls.pem?.cert
    if (shown === undefined) return { api: apiEnds, proxy: null }
    return { api: apiEnds, proxy: endOf(shown), proxy_names: namesOf(shown) }
  }
  const control = makeControl({
    ...stored,
    ...counted,
    certificates,
    proxyTls,
    backend: () => backend,
    ready: ready.promise
  })

  // The management port comes first: the data plane has to know it, because no client may reach it.
  const api = managementApi(control, log, https, config.allowClients)
  undo.push(() => closeApi(api))
  const management = handed?.management ?? null
  const own = management !== null && fits(management, [config.host], config.port) ? management : null
  try {
    const wanted = { host: config.host, port: config.port || (begin?.port ?? 0) }
    if (own === null) await listenApi(api, wanted, before === null ? 0 : RELEASE_MS)
    else await api.ready()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    return fail(listenProblem('The management', 'AGENT_PORT', config.host, config.port, code))
  }
  const address = api.server.address()
  const port = own?.port ?? (address !== null && typeof address !== 'string' ? address.port : config.port)

  const made = (backend ??= make(port))
  made.setSpent(totals.takeSpent() ?? [])
  const isWanted = (listener: Listener): boolean => fits(listener, config.proxyHosts, config.proxyPort)
  if (handed !== null) made.expect(handed.open)
  const proxies = (handed?.proxies ?? []).filter(isWanted)
  // No packet for a range arrives without its route, so listening need not wait for thousands of routes.
  const routed = begin === null ? loadRoutes() : Promise.resolve()
  const [started] = await Promise.all([begin === null ? made.start(store) : made.listen(proxies), routed])
  if (!started.ok) return fail(listenProblem('The proxy', 'PROXY_PORT', started.host, config.proxyPort, started.code))
  control.proxyPort = started.port
  const writeLines: WriteLines = (text, count) => {
    accessLog.add(text, count)
    follower.add(text, count)
  }
  lines.turn(writeLines)

  const announcing = new AbortController()
  if (handed !== null && before !== null) {
    await before.takeConnections()
    // Through the sink, because the next takeover redirects it.
    before.writeTo(lines.write)
    handingOver.servesSince = new Date(now()).toISOString()
    made.follow(before, config.drainMs)
    if (own !== null) await new Promise<void>(resolve => api.server.listen(own.handle, resolve))
    for (const listener of handed.proxies) if (!isWanted(listener)) listener.done()
    if (own === null) management?.done()
    made.mayLeave = notifyMainProcess(process.env, announcing.signal)
  } else if (before !== null) void notifyMainProcess(process.env, announcing.signal)
  ready.resolve()
  if (warning !== null) log.warn(warning)

  const isHealthy = (): boolean => made.serving().now > 0 && performance.now() - collector.collectedAt < HEALTHY_MS
  const stopFeeding = feedWatchdog(process.env, isHealthy)
  collector.start()
  const rest = (): void => {
    announcing.abort()
    meter.close()
    proxyTls.close()
    stopFeeding()
  }
  const parts = { version, folder: { path: folder.path, lock }, host: config.host, port, store, collector }
  const handOver = new HandOver(
    { ...parts, state: handingOver, files: read.files, proxyTls, backend: made, api, lines, rest },
    writeLines
  )

  const close = async (): Promise<void> => {
    rest()
    await closeApi(api)
    await collector.stop()
    await collector.take(await made.close())
    await totals.save().catch((error: unknown) => log.error({ err: error }, 'Traffic figures could not be saved.'))
    await accessLog.close()
    await store.close()
    handOver.unlock()
  }
  return {
    ok: true,
    agent: {
      port,
      proxyPort: started.port,
      token: read.files.token.configured,
      routes,
      renewCertificate: () => proxyTls.renew(),
      handOver,
      close
    }
  }
}

function makeBackend(
  config: AgentConfig & { sessionKey: string } & Pick<Times, 'restartMs'>,
  certificate: Pem | null,
  write: WriteLines,
  { log, resolve, program }: AgentOptions
): Backend {
  const plane: PlaneConfig = {
    proxyHosts: config.proxyHosts,
    proxyPort: config.proxyPort,
    allowDestinations: config.allowDestinations,
    allowPorts: config.allowPorts,
    denyPorts: config.denyPorts,
    ownPorts: config.ownPorts,
    // Customers never reach the management API through the proxy, even if an operator opens its port.
    protectedPorts: [...config.protectedPorts, { first: config.port, last: config.port }],
    echNames: config.echNames,
    sourcePorts: config.sourcePorts,
    sockets: config.sockets,
    udp: config.udp,
    certificate,
    sessionKey: config.sessionKey,
    limits: config.limits,
    abuse: config.abuse,
    shared: config.workers > 1
  }
  const tell = (message: string): void => log.error(message)
  // Management runs in its own process so that no tunnel waits for it. Tests run all in one process.
  if (config.workers === 0 || resolve !== undefined) return localBackend(plane, line => write(line, 1), tell, resolve)
  setFlagsFromString(HEAP_GROWTH)
  return new WorkerPool(plane, { count: config.workers, program, restartMs: config.restartMs }, write, tell)
}

function warnOfRoutes(log: Logger, routes: Awaited<ReturnType<Routes['load']>>): void {
  for (const { prefix, local, command } of routes) {
    if (!local) log.warn({ prefix, command }, `${prefix} does not work yet. As root: ${command}`)
  }
}
