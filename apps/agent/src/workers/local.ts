import type { Server } from 'node:net'
import type { AgentConfig } from '../config.ts'
import { DestinationPolicy } from '../net/destinations.ts'
import { CachingResolver, type Resolve } from '../net/resolver.ts'
import { SourcePorts } from '../net/source-ports.ts'
import { AccessTable } from '../proxy/access-table.ts'
import { listenProxy } from '../proxy/listener.ts'
import { Plane } from '../proxy/plane.ts'
import { piecesOf, TrafficMeter } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/ops.ts'
import type { Backend } from './backend.ts'

/** What a serving process needs of the configuration: plain data, so that it can be sent to one. */
export type PlaneConfig = Pick<
  AgentConfig,
  | 'proxyHosts'
  | 'proxyPort'
  | 'allowDestinations'
  | 'denyPorts'
  | 'ownPorts'
  | 'protectedPorts'
  | 'echNames'
  | 'sourcePorts'
  | 'limits'
> & { shared: boolean }

/** Rows of the counters that are passed on in one turn of the loop. */
export const ROWS_A_TURN = 500

/** The data plane of one process. */
export class LocalPlane {
  readonly plane: Plane
  readonly #resolver = new CachingResolver()
  readonly #config: PlaneConfig
  #servers: Server[] = []

  constructor(config: PlaneConfig, log: (line: string) => void, resolve?: Resolve) {
    this.#config = config
    this.plane = new Plane({
      accessTable: new AccessTable(),
      destinations: new DestinationPolicy({
        allow: config.allowDestinations,
        deniedPorts: config.denyPorts,
        ownPorts: config.ownPorts,
        protectedPorts: config.protectedPorts
      }),
      resolve: resolve ?? this.#resolver.resolve,
      limits: config.limits,
      traffic: new TrafficMeter(),
      sourcePorts: new SourcePorts(config.sourcePorts),
      echNames: config.echNames,
      log
    })
  }

  async listen(): Promise<{ ok: true; port: number } | { ok: false; host: string; code: string }> {
    const { proxyHosts, proxyPort, shared } = this.#config
    const listening = await listenProxy(this.plane, proxyHosts, proxyPort, shared)
    if (!listening.ok) return listening
    this.#servers = listening.servers
    return { ok: true, port: listening.port }
  }

  reload(): void {
    this.#resolver.reload()
  }

  close(): void {
    for (const server of this.#servers) server.close()
    this.plane.close()
  }
}

/** The backend of a single process: the management API and the data plane live together. */
export function localBackend(config: PlaneConfig, log: (line: string) => void, resolve?: Resolve): Backend {
  const local = new LocalPlane(config, log, resolve)
  return {
    start: async store => {
      await store.join(ops => void local.plane.apply(ops))
      return local.listen()
    },
    publish: (ops: Op[]) => local.plane.apply(ops),
    collect: () => Promise.resolve(piecesOf(local.plane.collect(), ROWS_A_TURN)),
    connections: () => local.plane.connections,
    reload: () => local.reload(),
    serving: () => ({ now: 1, wanted: 1 }),
    close: () => {
      local.close()
      return Promise.resolve(piecesOf(local.plane.collect(), ROWS_A_TURN))
    }
  }
}
