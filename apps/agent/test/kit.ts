// What the agent's tests share: an agent of their own on random loopback addresses, targets that tell who called, and
// clients that speak to a proxy byte by byte.
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll } from 'vitest'
import { type Agent, startAgent, type World } from '../src/agent.ts'
import { type AgentConfig, readConfig } from '../src/config.ts'
import { defaultLimits, type Limits } from '../src/proxy/plane.ts'

export const silent = pino({ level: 'silent' })
export const token = 'test-token-of-the-agent'

const cleanups: Array<() => unknown> = []
/** Runs after the file's tests, last registered first. */
export const onEnd = (work: () => unknown): void => {
  cleanups.push(work)
}
afterAll(async () => {
  for (const work of cleanups.toReversed()) await work()
})

/** A /16 of loopback that no other file is likely to use: `127.a.` (the newcomer's 127.0 and 127.10 excepted). */
export const randomNet = (): string => `127.${randomInt(20, 250)}`

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'netlet-agent-'))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Waits until a condition holds; fails with its last value after `ms`. */
export async function until<T>(what: string, look: () => T | Promise<T>, ms = 10_000): Promise<NonNullable<T>> {
  const deadline = performance.now() + ms
  for (;;) {
    const value = await look()
    if (value !== undefined && value !== null && value !== false) return value
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

export type Call = (
  method: string,
  path: string,
  body?: unknown
) => Promise<{ status: number; text: string; json: Json }>
// oxlint-disable-next-line typescript/no-redundant-type-constituents
export type Json = { [key: string]: Json } & Json[] & string & number & boolean

/** Calls of a management API. */
export const caller =
  (port: number, bearer = token): Call =>
  async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    const json = (/^[[{]/.test(text) ? JSON.parse(text) : {}) as Json
    return { status: response.status, text, json }
  }

export type TestAgent = Agent & { call: Call; folder: string; net: string }

/** The configuration of a test's agent: loopback is allowed, ports are chosen by the system. */
export function testConfig(
  folder: string,
  changes: Partial<AgentConfig> = {},
  limits: Partial<Limits> = {}
): AgentConfig {
  const read = readConfig({ AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8', AGENT_TOKEN: token, PROXY_HOST: '0.0.0.0' })
  if (!read.ok) throw new Error(read.message)
  return { ...read.config, port: 0, proxyPort: 0, folder, limits: { ...defaultLimits, ...limits }, ...changes }
}

/** An agent in this process that owns a random /16 of loopback. */
export async function testAgent(
  options: { config?: Partial<AgentConfig>; limits?: Partial<Limits>; world?: Partial<World> } = {}
): Promise<TestAgent> {
  const folder = options.config?.folder ?? (await tempFolder())
  const started = await startAgent(testConfig(folder, options.config, options.limits), {
    log: silent,
    ...options.world
  })
  if (!started.ok) throw new Error(started.message)
  const { agent } = started
  let closed: Promise<void> | null = null
  const close = (): Promise<void> => (closed ??= agent.close())
  onEnd(close)
  const net = randomNet()
  const call = caller(agent.port)
  const set = await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
  if (set.status !== 200) throw new Error(set.text)
  return { ...agent, close, call, folder, net }
}

/** Puts a user and fails loudly where that is refused. */
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

const listening = (server: Server): Promise<number> =>
  new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

/** An HTTP target: answers with who called, what was asked, and the raw headers. */
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

/** A TCP target with a behaviour of the test's own. */
export async function tcpTarget(
  behave: (socket: Socket) => void
): Promise<{ port: number; host: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    behave(socket)
  })
  const port = await listening(server)
  onEnd(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port, host: `127.0.0.1:${port}`, sockets }
}

/** Says its caller's address in the first line, then echoes. */
export const echoTarget = (): ReturnType<typeof tcpTarget> =>
  tcpTarget(socket => {
    socket.write(`${socket.remoteAddress}\n`)
    socket.pipe(socket)
  })

/** A client connection that collects what it gets. */
export class Wire {
  readonly socket: Socket
  received: Buffer = Buffer.alloc(0)
  ended = false
  closed = false

  constructor(host: string, port: number) {
    this.socket = connect({ host, port, allowHalfOpen: true })
    this.socket.on('data', (chunk: Buffer) => (this.received = Buffer.concat([this.received, chunk])))
    this.socket.on('end', () => (this.ended = true))
    this.socket.on('error', () => {})
    this.socket.on('close', () => (this.closed = true))
    onEnd(() => this.socket.destroy())
  }

  get text(): string {
    return this.received.toString('latin1')
  }

  send(bytes: string | Buffer): this {
    if (typeof bytes === 'string') this.socket.write(bytes, 'latin1')
    else this.socket.write(bytes)
    return this
  }

  /** Waits for text and takes everything up to its end away. */
  async take(pattern: RegExp, ms = 10_000): Promise<RegExpExecArray> {
    const match = await until(
      `${pattern} in ${JSON.stringify(this.text.slice(0, 300))}`,
      () => pattern.exec(this.text),
      ms
    )
    this.received = this.received.subarray(match.index + match[0].length)
    return match
  }

  async bytes(count: number): Promise<Buffer> {
    await until(`${count} bytes`, () => this.received.length >= count)
    const taken = this.received.subarray(0, count)
    this.received = this.received.subarray(count)
    return taken
  }

  /** Waits until the other side ended or broke the connection. */
  async over(ms = 10_000): Promise<string> {
    await until('the end', () => this.ended || this.closed, ms)
    return this.text
  }
}

export const basic = (user: string, password = 'secret'): string =>
  `Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`

/** One request in absolute form on a connection of its own; the status, the head and the body. */
export async function proxied(
  ip: string,
  port: number,
  user: string,
  url: string,
  options: { password?: string; method?: string; headers?: string; body?: string } = {}
): Promise<{ status: number; head: string; body: string }> {
  const wire = new Wire(ip, port)
  const host = new URL(url).host
  wire.send(
    `${options.method ?? 'GET'} ${url} HTTP/1.1\r\nHost: ${host}\r\n${basic(user, options.password)}` +
      `${options.headers ?? ''}Connection: close\r\n\r\n${options.body ?? ''}`
  )
  const text = await wire.over()
  wire.socket.destroy()
  const end = text.indexOf('\r\n\r\n')
  const head = text.slice(0, end)
  let body = text.slice(end + 4)
  if (/transfer-encoding: chunked/i.test(head)) body = unchunk(body)
  return { status: Number(text.slice(9, 12)), head, body }
}

function unchunk(text: string): string {
  let out = ''
  let at = 0
  for (;;) {
    const line = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, line), 16)
    if (!(size > 0)) return out
    out += text.slice(line + 2, line + 2 + size)
    at = line + 4 + size
  }
}

/** Opens a CONNECT tunnel; the status and the connection behind it. */
export async function tunnel(
  ip: string,
  port: number,
  user: string,
  to: string,
  password = 'secret'
): Promise<{ status: number; wire: Wire }> {
  const wire = new Wire(ip, port)
  wire.send(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${basic(user, password)}\r\n`)
  const match = await wire.take(/^HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/)
  return { status: Number(match[1]), wire }
}

/** Address bytes of a SOCKS5 request: IPv4, or a domain. */
export function socksAddress(host: string): Buffer {
  const parts = host.split('.').map(Number)
  if (parts.length === 4 && parts.every(part => Number.isInteger(part))) return Buffer.from([1, ...parts])
  return Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host, 'latin1')])
}

/** Speaks SOCKS5 up to the reply; `code` is the reply's, or -1 where the login was refused. */
export async function socks(
  ip: string,
  port: number,
  user: string,
  address: Buffer,
  toPort: number,
  options: { password?: string; command?: number } = {}
): Promise<{ code: number; wire: Wire }> {
  const wire = new Wire(ip, port)
  wire.send(Buffer.from([5, 2, 0, 2]))
  const method = await wire.bytes(2)
  if (method[1] !== 2) return { code: -1, wire }
  const password = options.password ?? 'secret'
  wire.send(
    Buffer.concat([
      Buffer.from([1, user.length]),
      Buffer.from(user),
      Buffer.from([password.length]),
      Buffer.from(password)
    ])
  )
  const login = await wire.bytes(2)
  if (login[1] !== 0) return { code: -1, wire }
  const tail = Buffer.alloc(2)
  tail.writeUInt16BE(toPort)
  wire.send(Buffer.concat([Buffer.from([5, options.command ?? 1, 0]), address, tail]))
  const reply = await wire.bytes(10)
  return { code: reply[1] ?? -1, wire }
}
