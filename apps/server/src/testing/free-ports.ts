import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range of outgoing connections, which could take a port before it is used. */
const FIRST = 16_000
/** Each worker of a test runner has its own. */
const EACH = 4000

/**
 * Unused, distinct ports. All are held open until the last one is found. For programs that must know their port before
 * they listen, or return to the same one.
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
