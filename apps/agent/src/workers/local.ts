import type { AgentCode } from '@netlet/contract/agent-codes'
import { constants } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Pem } from '../certificate.ts'
import type { AgentConfig } from '../config.ts'
import { DestinationPolicy } from '../net/destinations.ts'
import { SourcePorts } from '../net/source-ports.ts'
import { handleOf, lent, type Listener } from '../net/listen-handle.ts'
import { CachingResolver, type Resolve } from '../net/resolver.ts'
import { AccessTable } from '../proxy/access-table.ts'
import { type Listening, listenProxy } from '../proxy/listener.ts'
import { Plane } from '../proxy/plane.ts'
import { endConnections, listConnections } from '../proxy/live-connections.ts'
import type { PlaneFigures } from '../proxy/plane-figures.ts'
import { usableSockets } from '../proxy/usable-sockets.ts'
import { piecesOf, TrafficMeter } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/definitions.ts'
import type { Backend } from './backend.ts'

/** What a serving process needs of the configuration, as plain data that can be sent to it. */
export type PlaneConfig = Pick<
  AgentConfig,
  | 'proxyHosts'
  | 'proxyPort'
  | 'allowDestinations'
  | 'allowPorts'
  | 'denyPorts'
  | 'ownPorts'
  | 'protectedPorts'
  | 'echNames'
  | 'sourcePorts'
  | 'sockets'
  | 'udp'
  | 'limits'
  | 'abuse'
> & { shared: boolean; certificate: Pem | null; sessionKey: string }

/** Rows of counters passed on in one turn of the loop. */
export const ROWS_A_TURN = 500

/** Attempts to listen: a worker of a just killed agent may hold the port for a moment. */
const PORT_TRIES = 4
const PORT_WAIT_MS = 250

/** The data plane of one process. */
export class LocalPlane {
  readonly plane: Plane
  readonly #resolver = new CachingResolver()
  readonly #config: PlaneConfig
  #servers: Listening[] = []

  constructor(
    config: PlaneConfig,
    log: (line: string) => void,
    tell: (message: string) => void = () => {},
    resolve?: Resolve
  ) {
    this.#config = config
    this.plane = new Plane({
      accessTable: new AccessTable(),
      destinations: new DestinationPolicy({
        allow: config.allowDestinations,
        allowedPorts: config.allowPorts,
        deniedPorts: config.denyPorts,
        ownPorts: config.ownPorts,
        protectedPorts: config.protectedPorts
      }),
      resolve: resolve ?? this.#resolver.resolve,
      limits: config.limits,
      traffic: new TrafficMeter(),
      sourcePorts: new SourcePorts(config.sourcePorts),
      sessionKey: config.sessionKey,
      echNames: config.echNames,
      abuse: config.abuse,
      udp: config.udp,
      log,
      tellFault: tell
    })
    if (config.certificate !== null) this.secure(config.certificate)
  }

  /** Listens, on opened sockets if there are any. `warning` is for operators. */
  async listen(
    opened: readonly Listener[] = []
  ): Promise<{ ok: true; port: number; warning: string | null } | { ok: false; host: string; code: string }> {
    const { sockets, problem } = await usableSockets(this.#config.sockets)
    this.plane.sockets = sockets
    const { proxyHosts, proxyPort, shared } = this.#config
    let listening = await listenProxy(this.plane, proxyHosts, proxyPort, shared, opened)
    for (let tries = 1; !listening.ok && listening.code === 'EADDRINUSE' && tries < PORT_TRIES; tries++) {
      await new Promise(resolve => setTimeout(resolve, PORT_WAIT_MS))
      listening = await listenProxy(this.plane, proxyHosts, proxyPort, shared, opened)
    }
    if (!listening.ok) return listening
    this.#servers = listening.servers
    const warning =
      problem === null
        ? null
        : `The fast sockets do not work with this Node.js (${problem}); slower ones serve. AGENT_SOCKETS=streams says so.`
    return { ok: true, port: listening.port, warning }
  }

  /** Sets the certificate for new connections. Null: no TLS. */
  secure(pem: Pem | null): void {
    this.plane.secureContext =
      pem &&
      createSecureContext({
        ...pem,
        minVersion: 'TLSv1.2',
        // Each renegotiation costs a signature, and a client could demand any number before it logs in.
        secureOptions: constants.SSL_OP_NO_RENEGOTIATION
      })
  }

  reload(): void {
    this.#resolver.reload()
  }

  figures(): PlaneFigures {
    return { ...this.plane.figures, open: this.plane.connections, dns: { ...this.#resolver.figures } }
  }

  /** The listening sockets, for another process. */
  lend(): Listener[] {
    return this.#servers.flatMap(({ host, server }) => {
      const handle = handleOf(server)
      const address = server.address()
      const port = address === null || typeof address === 'string' ? 0 : address.port
      return handle === null ? [] : [lent(host, port, handle)]
    })
  }

  /** Accepts no new connections. Open ones continue. */
  drain(): void {
    for (const { server } of this.#servers.splice(0)) server.close()
    this.plane.drain()
  }

  close(note: AgentCode | null = null): void {
    for (const { server } of this.#servers) server.close()
    this.#resolver.close()
    this.plane.close(note)
  }
}

/** The backend of a single process, which has both the management API and the data plane. */
export function localBackend(
  config: PlaneConfig,
  log: (line: string) => void,
  tell: (message: string) => void,
  resolve?: Resolve
): Backend {
  const local = new LocalPlane(config, log, tell, resolve)
  const listen: Backend['listen'] = async opened => {
    const listening = await local.listen(opened)
    if (listening.ok && listening.warning !== null) tell(listening.warning)
    return listening
  }
  const prepare: Backend['prepare'] = async store => {
    await store.join(ops => void local.plane.apply(ops))
    return true
  }
  return {
    start: async store => {
      await prepare(store)
      return listen([])
    },
    prepare,
    listen,
    lend: () => Promise.resolve({ listeners: local.lend(), open: local.plane.shared.reportableOpen(true) }),
    drain: () => {
      local.drain()
      return Promise.resolve()
    },
    shares: () => local.plane.shared.report(),
    share: (shares, isTogether) => {
      local.plane.shared.isTogether = isTogether
      const own = new Map(local.plane.shared.reportableOpen().map(([name, open]) => [name, open]))
      local.plane.shared.setElsewhere(
        shares.open.map(([name, open]) => [name, open, own.get(name) ?? 0]),
        true
      )
      local.plane.shared.setSpeeds(shares.speeds)
    },
    publish: (ops: Op[]) => local.plane.apply(ops),
    collect: async () => piecesOf(await local.plane.collectInTurns(), ROWS_A_TURN),
    connections: () => local.plane.connections,
    secure: pem => local.secure(pem),
    setSpent: users => void local.plane.setSpent(users),
    reload: () => local.reload(),
    // This is the managing process, whose figures are listed separately.
    figures: () => ({ plane: local.figures(), processes: [], restarts: 0 }),
    look: (user, limit) => listConnections(local.plane, user, limit),
    end: (user, connection) => endConnections(local.plane, user, connection),
    signs: () => local.plane.abuse.take(),
    serving: () => ({ now: 1, wanted: 1 }),
    close: (note = null) => {
      local.close(note)
      return Promise.resolve(piecesOf(local.plane.collect(), ROWS_A_TURN))
    }
  }
}
