import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that systems give to outgoing connections, which would take a port between its choice and its use. */
const FIRST = 16_000
/** Each worker of a test runner has its own. */
const EACH = 4000

/**
 * Ports that nobody listens on, all different: they are held until the last of them is known. For what is told its port
 * before it listens, and for what stops and comes back on the same one.
 */
export async function freePorts(count: number): Promise<number[]> {
  const first = FIRST + EACH * (Number(process.env['VITEST_POOL_ID'] ?? process.env['TEST_PARALLEL_INDEX'] ?? 0) % 4)
  const servers: ReturnType<typeof createServer>[] = []
  const ports: number[] = []
  while (ports.length < count) {
    const port = first + Math.floor(Math.random() * EACH)
    const server = createServer()
    const taken = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(true))
      server.listen(port, '127.0.0.1', () => resolve(false))
    })
    if (taken) continue
    servers.push(server)
    ports.push(port)
  }
  await Promise.all(servers.map(server => once(server.close(), 'close')))
  return ports
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}
