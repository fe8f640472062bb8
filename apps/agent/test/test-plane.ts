// A data plane without an agent, for tests of single connections.
import type { AddressInfo } from 'node:net'
import { DestinationPolicy } from '../src/net/destinations.ts'
import { parsePrefixes } from '../src/net/ip.ts'
import type { Resolve } from '../src/net/resolver.ts'
import { SourcePorts, systemPorts } from '../src/net/source-ports.ts'
import { defaultAbuseLimits } from '../src/proxy/abuse-watch.ts'
import { AccessTable } from '../src/proxy/access-table.ts'
import { ClientConnection, type Stage } from '../src/proxy/connection.ts'
import { firstStage } from '../src/proxy/listener.ts'
import { defaultLimits, type Limits } from '../src/proxy/limits.ts'
import { Plane } from '../src/proxy/plane.ts'
import { type RawSocket, type SocketChoice, socketChoices, type Sockets } from '../src/proxy/socket-types.ts'
import { TrafficMeter } from '../src/proxy/traffic-meter.ts'
import { usableSockets } from '../src/proxy/usable-sockets.ts'
import { onEnd } from './base.ts'

export type TestPlane = {
  plane: Plane
  port: number
  lines: string[]
  told: string[]
  /** Every accepted and connected socket. A retry with another local port adds one to `connected`. */
  accepted: RawSocket[]
  connected: RawSocket[]
  /** `bytesRead` of an accepted socket before each write to it. */
  readBefore: number[]
  /** Advances the plane's clock while nothing arrives, so that deadlines expire. Needs a `sweepMs` of NEVER. */
  pass: (ms: number) => void
}

/** A `sweepMs` with which the plane never checks deadlines by itself. */
export const NEVER = 1 << 30

/** User `u` (password `secret`) leases 127.0.0.1 and may reach the loopback. Connections begin in `stage`. */
export async function testPlane(
  options: {
    limits?: Partial<Limits>
    stage?: (connection: ClientConnection) => Stage
    denied?: string[]
    /** The user's speed in Mbit/s. */
    mbps?: number | undefined
    resolve?: Resolve
  } = {}
): Promise<TestPlane> {
  const allowed = parsePrefixes(['127.0.0.0/8'])
  if (!allowed.ok) throw new Error(allowed.bad)
  const [lines, told]: [string[], string[]] = [[], []]
  const plane = new Plane({
    accessTable: new AccessTable(),
    destinations: new DestinationPolicy({
      allow: allowed.prefixes,
      allowedPorts: [],
      deniedPorts: [],
      ownPorts: [],
      protectedPorts: []
    }),
    resolve: options.resolve ?? ((_name, _family, answer) => answer({ ok: false, reason: 'not-found' })),
    limits: { ...defaultLimits, sweepMs: 20, ...options.limits },
    traffic: new TrafficMeter(),
    sourcePorts: new SourcePorts(systemPorts()),
    sessionKey: 'a2V5',
    echNames: [],
    abuse: defaultAbuseLimits,
    udp: true,
    log: line => lines.push(line),
    tellFault: message => told.push(message)
  })
  const choice: SocketChoice = socketChoices.find(each => each === process.env['AGENT_SOCKETS']) ?? 'auto'
  const { sockets } = await usableSockets(choice)
  const readBefore: number[] = []
  const [accepted, connected]: [RawSocket[], RawSocket[]] = [[], []]
  const watched: Sockets = {
    ...sockets,
    connect: (...args) => {
      const rawSocket = sockets.connect(...args)
      connected.push(rawSocket)
      return rawSocket
    }
  }
  plane.sockets = watched
  await plane.apply([
    { op: 'deny-set', hash: 'd', domains: options.denied ?? [] },
    {
      op: 'user',
      user: 'u',
      record: {
        password: 'secret',
        prefixes: ['127.0.0.1/32'],
        denySet: 'd',
        allowedClientIps: [],
        ...(options.mbps === undefined ? {} : { limits: { mbps: options.mbps } })
      }
    }
  ])
  const server = sockets.createServer(rawSocket => {
    accepted.push(rawSocket)
    const write = rawSocket.write.bind(rawSocket)
    rawSocket.write = data => {
      readBefore.push(rawSocket.bytesRead)
      write(data)
    }
    ClientConnection.accept(plane, rawSocket, options.stage ?? firstStage)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onEnd(() => {
    server.close()
    plane.close()
  })
  const pass = (ms: number): void => {
    // The first tick notices what has arrived.
    for (const at of [plane.now, plane.now + ms]) {
      plane.now = at
      for (const connection of plane.open) connection.tick(at)
    }
  }
  return { plane, port: (server.address() as AddressInfo).port, lines, told, accepted, connected, readBefore, pass }
}
