import { createRequire } from 'node:module'
import type { AgentHealth } from '@netlet/contract/agent'
import { AGENT_SETTINGS_FORMAT } from '@netlet/contract/agent-settings'
import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { FROM_SOURCES } from '@netlet/contract/agent-version'
import type { Control } from './api/control.ts'
import type { AgentConfig } from './config.ts'
import type { Collector } from './collector.ts'
import type { LogFollower } from './log/access-log.ts'
import type { Routes } from './net/routes.ts'
import type { ProxyTls } from './proxy-tls.ts'
import { type DnsFigures, noFigures } from './proxy/plane-figures.ts'
import type { Alarms } from './state/alarms.ts'
import { RefusalsOfDay } from './state/refusals.ts'
import type { StateFiles } from './state/folder.ts'
import type { Store } from './state/store.ts'
import type { Generations } from './takeover/generations.ts'
import type { HandingOver } from './takeover/hand-over.ts'
import type { BackendFigures } from './workers/backend.ts'
import type { AgentProblem } from '@netlet/contract/agent-live'
import type { ProcessFigures } from './workers/process-figures.ts'

/** Input of `findProblems`. */
export type Observed = {
  workers: { now: number; wanted: number }
  /** The last write of a file in the agent's folder failed. */
  isDiskFailing: boolean
  processes: readonly ProcessFigures[]
  routes: ReadonlyArray<{ local: boolean }>
  isCertificateUnread: boolean
  dns: DnsFigures
}

/** Above this share of its file handles, a process has few left. */
const HANDLES_SHARE = 0.9

/** The problems of an agent, for `/healthz` and the console. */
export function findProblems(observed: Observed): AgentProblem[] {
  const { workers, isDiskFailing, processes, routes, isCertificateUnread, dns } = observed
  const found: Record<AgentProblem, boolean> = {
    worker_missing: workers.now < workers.wanted,
    disk_not_writable: isDiskFailing,
    handles_low: processes.some(({ handles }) => handles.limit > 0 && handles.used > handles.limit * HANDLES_SHARE),
    loop_slow: processes.some(({ isSlow }) => isSlow),
    routes_missing: routes.some(({ local }) => !local),
    dns_failing: dns.failing > 0,
    certificate_unreadable: isCertificateUnread
  }
  return (Object.keys(found) as AgentProblem[]).filter(code => found[code])
}

const { version: ofPackage } = createRequire(import.meta.url)('../package.json') as { version: string }
export const version = import.meta.url.endsWith('.ts') ? `${ofPackage}${FROM_SOURCES}` : ofPackage

const noBackend = (): BackendFigures => ({ plane: noFigures(), processes: [], restarts: 0 })

type Parts = {
  config: AgentConfig
  now: () => number
  store: Store
  files: StateFiles
  routes: Routes
  alarms: Alarms
  follower: LogFollower
  collector: Collector
  handingOver: HandingOver
  proxyTls: ProxyTls
  /** When the certificates of the API and the proxy port expire. */
  certificates: () => NonNullable<AgentHealth['certificates']>
  backend: () => Generations | null
  ready: Promise<void>
  loadRoutes: () => Promise<void>
}

/** Builds what the management API works on. */
export function makeControl(parts: Parts): Control {
  const { config, now, store, routes, alarms, follower, collector, handingOver, backend, ready } = parts
  const { totals, accessLog, owner, token } = parts.files
  const refusals = new RefusalsOfDay(now)
  const serving = (): { now: number; wanted: number } => backend()?.serving() ?? { now: 0, wanted: config.workers }
  const figures = (): BackendFigures => backend()?.figures() ?? noBackend()
  const control: Control = {
    store,
    owner,
    token,
    proxyTls: parts.proxyTls,
    routes,
    accessLog,
    ready,
    proxyPort: 0,
    openTraffic: async () => {
      await collector.collect()
      return (await totals.trySave()) ? totals.report() : null
    },
    trafficChanges: async query => {
      if (query.fresh === '1' || totals.isTold(query)) {
        await collector.collect()
        if (!(await totals.trySave())) return null
      }
      return totals.changes(query)
    },
    health: () => {
      const workers = serving()
      const status = workers.now === workers.wanted ? 'ok' : 'degraded'
      const { processes, plane } = figures()
      const observed = {
        workers,
        isDiskFailing:
          store.figures.isFailing || [accessLog, totals, owner, token, parts.proxyTls].some(file => file.isFailing),
        processes: [collector.manager, ...processes],
        routes: routes.state,
        isCertificateUnread: parts.proxyTls.state.fault !== null,
        dns: plane.dns
      }
      return {
        status,
        version,
        workers: workers.now,
        uptime_seconds: Math.floor(process.uptime()),
        problems: findProblems(observed),
        time: new Date(now()).toISOString(),
        certificates: parts.certificates()
      }
    },
    program: () => ({
      program_version: version,
      program_path: handingOver.path,
      program_started_at: handingOver.servesSince,
      draining: backend()?.draining ?? [],
      takeover: handingOver.last,
      takeover_format: TAKEOVER_FORMAT,
      settings_format: AGENT_SETTINGS_FORMAT
    }),
    isHandingOver: () => handingOver.isUnderWay,
    isHandedOver: () => handingOver.isOver,
    alarms,
    follower,
    listConnections: (user, limit) =>
      backend()?.look(user, limit) ?? Promise.resolve({ total: 0, users: [], connections: [] }),
    endConnections: (user, connection) => backend()?.end(user, connection) ?? Promise.resolve(0),
    refusals: () => refusals.read(figures().plane.outcomes),
    metrics: () => ({
      figures: figures(),
      load: control.load(),
      workers: serving(),
      manager: collector.manager,
      users: store.figures.users,
      prefixes: store.figures.prefixes,
      journalBytes: store.figures.bytes,
      portsPerAddress: config.sourcePorts.last - config.sourcePorts.first + 1,
      certificates: parts.certificates(),
      program: control.program()
    }),
    load: () => ({ connections: backend()?.connections() ?? 0, ...totals.all }),
    flushLog: () => collector.collect(),
    reload: async () => {
      backend()?.reload()
      await parts.loadRoutes()
    }
  }
  collector.collected = () => void control.refusals()
  return control
}
