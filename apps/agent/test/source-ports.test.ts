import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { systemPorts } from '../src/net/source-ports.ts'
import { basic, lease, onEnd, type RawClient, tcpTarget, testAgent, type TestAgent, tunnel } from './test-agent.ts'

/** Eight ports below the system's ephemeral range. */
const first = 23_000 + Math.floor(Math.random() * 5000)
const sourcePorts = { first, last: first + 7 }

let agent: TestAgent
let target: Awaited<ReturnType<typeof tcpTarget>>
/** The source port of each connection, as the target sees it. */
let ports: number[] = []
const hold = (socket: Socket): void => {
  ports.push(socket.remotePort ?? 0)
  socket.write('hello')
}

beforeAll(async () => {
  agent = await testAgent({ config: { sourcePorts } })
  await lease(agent.call, 'u', [`${agent.net}.1.0/24`])
  target = await tcpTarget(hold)
})

const open = async (ip: string, to = target.host): Promise<{ status: number; client: RawClient }> => {
  const { status, rawClient: client } = await tunnel(ip, agent.proxyPort, 'u', to)
  if (status === 200) await client.take(/hello/)
  return { status, client }
}

describe('local ports of the connections to targets', () => {
  test('are chosen from the range, without those that something listens on', async () => {
    const ip = `${agent.net}.1.1`
    // With three ports taken the agent's tries find a free one. With all but one taken they might not.
    const listening = [first, first + 3, first + 6]
    for (const port of listening) {
      const server = createServer().listen({ host: ip, port })
      onEnd(() => server.close())
      await new Promise(resolve => server.once('listening', resolve))
    }
    ports = []
    for (let n = 0; n < 3; n++) expect((await open(ip)).status).toBe(200)
    expect(new Set(ports).size).toBe(3)
    for (const port of ports) {
      expect(listening).not.toContain(port)
      expect(port).toBeGreaterThanOrEqual(first)
      expect(port).toBeLessThanOrEqual(first + 7)
    }
  })

  test('serve as many targets as there are, each of them with all ports; one more to the same is refused at once', async () => {
    const ip = `${agent.net}.1.2`
    const other = await tcpTarget(hold)
    ports = []
    for (let n = 0; n < 8; n++) {
      expect((await open(ip)).status).toBe(200)
      expect((await open(ip, other.host)).status).toBe(200)
    }
    expect(ports.filter((_, n) => n % 2 === 0).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 8 }, (_, n) => first + n)
    )
    expect((await open(ip)).status).toBe(502)
    // Another leased address has its own ports.
    expect((await open(`${agent.net}.1.3`)).status).toBe(200)
  })
})

/** With so many ports in use a new connection took 3.5 s instead of 0.6 ms when the kernel chose the port. */
const PORTS = 7000
const AT_ONCE = 100
const LANES = 8
const TURNS = 8
const TRIES = 12
/** How many times as long a tunnel through the crowded address may take. It was 77 when the kernel chose the port. */
const MAX_SLOWDOWN = 8

/** Leaves many ports of an address in TIME_WAIT for a minute: this side ends one connection through each. */
async function crowd(address: string): Promise<void> {
  const server = createServer(socket => void socket.resume().on('error', () => {}))
  await new Promise<void>(resolve => server.listen({ port: 0, host: '127.0.0.1', backlog: 500 }, resolve))
  onEnd(() => server.close())
  const { port } = server.address() as AddressInfo
  const { first, last } = systemPorts()
  // The kernel tries these first: every second port of the lower half.
  const ports = Array.from({ length: PORTS }, (_, n) => first + 1 + 2 * n).filter(local => local <= last)
  let taken = 0
  const use = (localPort: number): Promise<void> =>
    new Promise(resolve => {
      const socket = connect({ host: '127.0.0.1', port, localAddress: address, localPort })
      socket.once('connect', () => {
        taken++
        socket.end()
      })
      socket.on('error', () => {})
      socket.resume().once('close', () => resolve())
    })
  while (ports.length > 0) await Promise.all(ports.splice(0, AT_ONCE).map(use))
  expect(taken).toBeGreaterThan(PORTS * 0.95)
}

/** Milliseconds from a CONNECT request to its answer, on an established connection. */
async function openingTime(address: string, proxyPort: number, to: string): Promise<number> {
  const socket = connect({ host: address, port: proxyPort })
  onEnd(() => socket.destroy())
  await once(socket, 'connect')
  const began = performance.now()
  socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${basic('b')}\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  const took = performance.now() - began
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /)
  socket.end()
  return took
}

const median = (of: number[]): number => of.toSorted((a, b) => a - b)[of.length >> 1] ?? Number.NaN

// Measures times, and leaves ports taken for a minute.
if (isLong)
  test('a new tunnel is not held up by a customer with thousands of ports of the same address in use and in TIME_WAIT', async () => {
    const agent = await testAgent({ limits: { newPerUser: 0, newPerAddress: 0, newPerClient: 0 } })
    const [crowded, quiet] = [`${agent.net}.1.1`, `${agent.net}.2.1`]
    for (const user of ['a', 'b']) await lease(agent.call, user, [`${crowded}/32`, `${quiet}/32`])
    const target = await tcpTarget(socket => void socket.resume().on('end', () => socket.end()))
    await crowd(crowded)

    let through = crowded
    const over = new AbortController()
    const loop = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const { rawClient } = await tunnel(through, agent.proxyPort, 'a', target.host)
        rawClient.socket.end()
        await rawClient.over()
      }
    }
    const lanes = Array.from({ length: LANES }, loop)
    const waits: Record<string, number[]> = { [crowded]: [], [quiet]: [] }
    for (let turn = 0; turn < TURNS * 2; turn++) {
      through = turn % 2 === 0 ? crowded : quiet
      for (let n = 0; n < TRIES; n++) waits[through]?.push(await openingTime(through, agent.proxyPort, target.host))
    }
    over.abort()
    await Promise.all(lanes)
    expect(median(waits[crowded] ?? []) / median(waits[quiet] ?? [])).toBeLessThan(MAX_SLOWDOWN)
  })
