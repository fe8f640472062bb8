// Shared helpers: agents on random loopback addresses, targets that report their caller, and byte-level clients.
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Agent, startAgent, type AgentOptions } from '../src/agent.ts'
import { type AgentConfig, readConfig } from '../src/config.ts'
import { defaultLimits, type Limits } from '../src/proxy/limits.ts'
import { onEnd } from './base.ts'

export * from './base.ts'
export * from './clients.ts'

export const silent = pino({ level: 'silent' })
export const token = 'test-token-of-the-agent'

/** A random /16 of loopback, `127.a`, which another file rarely uses. The demo's 127.0 and 127.10 are left out. */
export const randomNet = (): string => `127.${randomInt(20, 250)}`

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'netlet-agent-'))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export type Call = (
  method: string,
  path: string,
  body?: unknown
) => Promise<{ status: number; text: string; json: Json }>
// oxlint-disable-next-line typescript/no-redundant-type-constituents
export type Json = { [key: string]: Json } & Json[] & string & number & boolean

/** Calls an agent's management API. */
export const caller =
  (port: number, bearer = token): Call =>
  async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        // A process that is replaced closes kept connections, perhaps while a call is on its way.
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    const json = (/^[[{]/.test(text) ? JSON.parse(text) : {}) as Json
    return { status: response.status, text, json }
  }

export type TestAgent = Agent & { call: Call; folder: string; net: string }

/** A test agent's configuration: one process, ports that the system chooses, and loopback targets are allowed. */
export function testConfig(
  folder: string,
  changes: Partial<AgentConfig> = {},
  limits: Partial<Limits> = {}
): AgentConfig {
  const read = readConfig({
    AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
    AGENT_TOKEN: token,
    PROXY_HOST: '0.0.0.0',
    // The tests run once for each kind of sockets (see vitest.config.ts).
    AGENT_SOCKETS: process.env['AGENT_SOCKETS']
  })
  if (!read.ok) throw new Error(read.message)
  return {
    ...read.config,
    workers: 0,
    port: 0,
    proxyPort: 0,
    folder,
    limits: { ...defaultLimits, ...limits },
    ...changes
  }
}

type TestAgentOptions = { config?: Partial<AgentConfig>; limits?: Partial<Limits>; world?: Partial<AgentOptions> }

async function start({ config, limits, world }: TestAgentOptions, folder: string, net: string): Promise<TestAgent> {
  const started = await startAgent(testConfig(folder, config, limits), {
    log: silent,
    times: { collectMs: 100, lookMs: 100 },
    ...world
  })
  if (!started.ok) throw new Error(started.message)
  const { agent } = started
  let closed: Promise<void> | null = null
  const close = (): Promise<void> => (closed ??= agent.close())
  onEnd(close)
  return { ...agent, close, call: caller(agent.port), folder, net }
}

/** An agent in this process that owns a random /16 of loopback. */
export async function testAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
  const agent = await start(options, options.config?.folder ?? (await tempFolder()), randomNet())
  const set = await agent.call('PUT', '/api/prefixes', { prefixes: [`${agent.net}.0.0/16`] })
  if (set.status !== 200) throw new Error(set.text)
  return agent
}

/** Closes an agent and starts it again on its folder. */
export async function startedAgain(agent: TestAgent, options: TestAgentOptions = {}): Promise<TestAgent> {
  await agent.close()
  return start(options, agent.folder, agent.net)
}

/** Puts a user. Throws if the agent refuses. */
export async function lease(
  call: Call,
  user: string,
  prefixes: string[],
  more: Record<string, unknown> = {}
): Promise<Json> {
  const put = await call('PUT', `/api/users/${user}`, { password: 'secret', prefixes, denied_domains: [], ...more })
  if (put.status !== 200) throw new Error(put.text)
  return put.json
}

const listening = (server: Server, at = '127.0.0.1'): Promise<number> =>
  new Promise(resolve => server.listen(0, at, () => resolve((server.address() as AddressInfo).port)))

/** An HTTP target that answers with the caller's address, the request and its raw headers. */
export async function httpTarget(): Promise<{ port: number; host: string; requests: () => number }> {
  let requests = 0
  const server = createHttp((request, response) => {
    requests++
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method, url, rawHeaders, socket } = request
      const body = Buffer.concat(parts).toString('latin1')
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ from: socket.remoteAddress, method, url, rawHeaders, body }))
    })
  })
  const port = await listening(server)
  onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port, host: `127.0.0.1:${port}`, requests: () => requests }
}

export async function tcpTarget(
  behave: (socket: Socket) => void,
  at?: string
): Promise<{ port: number; host: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    behave(socket)
  })
  const port = await listening(server, at)
  onEnd(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port, host: `127.0.0.1:${port}`, sockets }
}

/** A target that sends as much as its client takes. */
export const floodTarget = (): ReturnType<typeof tcpTarget> =>
  tcpTarget(socket => {
    const piece = Buffer.alloc(65_536, 'x')
    const send = (): void => {
      while (socket.write(piece));
    }
    socket.on('drain', send)
    send()
  })

/** A target that sends its caller's address in the first line, then echoes. */
export const echoTarget = (): ReturnType<typeof tcpTarget> =>
  tcpTarget(socket => {
    socket.write(`${socket.remoteAddress}\n`)
    socket.pipe(socket)
  })
