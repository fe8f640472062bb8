import { createServer, type Socket } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { lease, onEnd, type RawClient, tcpTarget, testAgent, type TestAgent, tunnel } from './test-agent.ts'

/** Eight ports below those that the system gives out by itself. */
const first = 23_000 + Math.floor(Math.random() * 5000)
const sourcePorts = { first, last: first + 7 }

let agent: TestAgent
let target: Awaited<ReturnType<typeof tcpTarget>>
/** The port of each connection, as the target sees it. */
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
    // Of so few ports a connection finds a free one in the tries that it has; of all but one taken it might not.
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
    // Nobody else's address has to do with it.
    expect((await open(`${agent.net}.1.3`)).status).toBe(200)
  })
})
