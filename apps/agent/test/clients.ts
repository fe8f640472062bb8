// Clients that speak to a proxy byte by byte.
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { onEnd, until } from './base.ts'

/** A client connection that collects what it receives. */
export class RawClient {
  readonly socket: Socket
  received: Buffer = Buffer.alloc(0)
  ended = false
  closed = false

  /** @param from the client's own loopback address */
  constructor(host: string, port: number, from?: string) {
    this.socket = connect({ host, port, allowHalfOpen: true, ...(from === undefined ? {} : { localAddress: from }) })
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

  /** Waits until the received text matches, then removes everything up to the end of the match. */
  async take(pattern: RegExp, ms = 10_000): Promise<RegExpExecArray> {
    const look = (): RegExpExecArray | null => {
      const found = pattern.exec(this.text)
      if (found === null && this.closed) throw new Error('the connection was closed')
      return found
    }
    const match = await until(String(pattern), look, ms).catch((error: Error) => {
      throw new Error(`${error.message}: ${pattern} in ${JSON.stringify(this.text.slice(0, 300))}`)
    })
    this.received = this.received.subarray(match.index + match[0].length)
    return match
  }

  async bytes(count: number): Promise<Buffer> {
    await until(`${count} bytes`, () => this.received.length >= count)
    const taken = this.received.subarray(0, count)
    this.received = this.received.subarray(count)
    return taken
  }

  /** Waits until the other side ends or resets the connection. Returns the text not taken yet. */
  async over(ms = 10_000): Promise<string> {
    await until('the end', () => this.ended || this.closed, ms)
    return this.text
  }
}

export const basic = (user: string, password = 'secret'): string =>
  `Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`

/** Sends one request in absolute form on a new connection. */
export async function proxied(
  ip: string,
  port: number,
  user: string,
  url: string,
  options: { password?: string; method?: string; headers?: string; body?: string } = {}
): Promise<{ status: number; head: string; body: string }> {
  const rawClient = new RawClient(ip, port)
  const host = new URL(url).host
  rawClient.send(
    `${options.method ?? 'GET'} ${url} HTTP/1.1\r\nHost: ${host}\r\n${basic(user, options.password)}` +
      `${options.headers ?? ''}Connection: close\r\n\r\n${options.body ?? ''}`
  )
  const text = await rawClient.over()
  rawClient.socket.destroy()
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

/** Opens a CONNECT tunnel. Returns the status and the connection. */
export async function tunnel(
  ip: string,
  port: number,
  user: string,
  to: string,
  password = 'secret'
): Promise<{ status: number; rawClient: RawClient }> {
  const rawClient = new RawClient(ip, port)
  rawClient.send(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${basic(user, password)}\r\n`)
  const match = await rawClient.take(/^HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/)
  return { status: Number(match[1]), rawClient }
}

/** The address part of a SOCKS5 request: an IPv4 address or a domain name. */
export function socksAddress(host: string): Buffer {
  const parts = host.split('.').map(Number)
  if (parts.length === 4 && parts.every(part => Number.isInteger(part))) return Buffer.from([1, ...parts])
  return Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host, 'latin1')])
}

/** Runs the SOCKS5 handshake. `code` is the reply's code, or -1 if the login is refused. */
export async function socks(
  ip: string,
  port: number,
  user: string,
  address: Buffer,
  toPort: number,
  options: { password?: string; command?: number } = {}
): Promise<{ code: number; rawClient: RawClient }> {
  const rawClient = new RawClient(ip, port)
  rawClient.send(Buffer.from([5, 2, 0, 2]))
  const method = await rawClient.bytes(2)
  if (method[1] !== 2) return { code: -1, rawClient }
  const password = options.password ?? 'secret'
  rawClient.send(
    Buffer.concat([
      Buffer.from([1, user.length]),
      Buffer.from(user),
      Buffer.from([password.length]),
      Buffer.from(password)
    ])
  )
  const login = await rawClient.bytes(2)
  if (login[1] !== 0) return { code: -1, rawClient }
  const tail = Buffer.alloc(2)
  tail.writeUInt16BE(toPort)
  rawClient.send(Buffer.concat([Buffer.from([5, options.command ?? 1, 0]), address, tail]))
  const reply = await rawClient.bytes(10)
  return { code: reply[1] ?? -1, rawClient }
}

export async function udpSocket(address = '127.0.0.1', recvBufferSize?: number): Promise<UdpSocket> {
  const socket = createSocket({ type: 'udp4', ...(recvBufferSize === undefined ? {} : { recvBufferSize }) })
  onEnd(() => socket.close())
  socket.bind(0, address)
  await once(socket, 'listening')
  return socket
}

const port16 = (port: number): number[] => [port >> 8, port & 255]
/** Destinations of datagrams, as SOCKS5 encodes them. */
export const udpTo = {
  v4: (address: string, port: number): Buffer => Buffer.from([1, ...address.split('.').map(Number), ...port16(port)]),
  name: (name: string, port: number): Buffer =>
    Buffer.from([3, name.length, ...Buffer.from(name, 'latin1'), ...port16(port)])
}
export const datagram = (to: Buffer, data: string | Buffer, fragment = 0): Buffer =>
  Buffer.concat([Buffer.from([0, 0, fragment]), to, Buffer.from(data)])

/** Asks for a UDP association. It lives as long as `control`; datagrams go to the address `at` and the port `relay`. */
export async function associate(
  ip: string,
  port: number,
  user = 'u',
  declared: Buffer = udpTo.v4('0.0.0.0', 0)
): Promise<{ code: number; control: RawClient; relay: number; at: string }> {
  const control = new RawClient(ip, port)
  const login = Buffer.from([1, user.length, ...Buffer.from(user), 6, ...Buffer.from('secret')])
  control.send(Buffer.concat([Buffer.from([5, 1, 2]), login, Buffer.from([5, 3, 0]), declared]))
  const reply = await control.bytes(14)
  return { code: reply[5] ?? -1, control, relay: reply.readUInt16BE(12), at: reply.subarray(8, 12).join('.') }
}

/**
 * A TLS connection to a proxy. It accepts any certificate.
 * @param from the client's own address
 * @param allowHalfOpen keeps the TCP connection open after the proxy ends it
 * @throws Error if the connection ends during the handshake
 */
export async function tlsClient(
  port: number,
  {
    host = '127.0.0.1',
    from,
    allowHalfOpen = false,
    ...options
  }: ConnectionOptions & { from?: string; allowHalfOpen?: boolean } = {}
): Promise<TLSSocket> {
  const raw = connect({ host, port, allowHalfOpen, ...(from === undefined ? {} : { localAddress: from }) })
  const socket = connectTls({ socket: raw, rejectUnauthorized: false, ...options })
  onEnd(() => socket.destroy())
  const ended = once(socket, 'close').then(() => Promise.reject(new Error('ended before it was secure')))
  socket.on('error', () => {})
  await Promise.race([once(socket, 'secureConnect'), ended])
  // A later end is not an error.
  ended.catch(() => {})
  return socket
}
