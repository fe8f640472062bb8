import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RawSocket } from '../src/proxy/socket-types.ts'
import { hello as tlsHello, serverName } from './names.ts'
import { newSecureContext } from './certificates.ts'
import { basic, RawClient, tcpTarget, until } from './test-agent.ts'
import { testPlane } from './test-plane.ts'

/** Bytes that one connection may buffer in this process at any stage: some reads, and the limits of heads. */
const BOUND = 400_000
/** More than the kernel's buffers of all four sockets hold. */
const FLOOD = 48 << 20
const BLOCK = Buffer.alloc(65_536, 'a')

/** Writes up to `FLOOD` bytes, and pauses under backpressure. */
function flood(socket: Socket, block: Buffer = BLOCK): void {
  let left = FLOOD
  const pump = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= block.length
      if (!socket.write(block)) return
    }
  }
  socket.on('drain', pump)
  pump()
}

const login = basic('u')
const hello = (size: number): Buffer =>
  Buffer.concat([Buffer.from([22, 3, 1, size >> 8, size & 255, 1, 0, 255, 255]), Buffer.alloc(100)])
const socks = Buffer.concat([Buffer.from([5, 1, 2, 1, 1]), Buffer.from('u'), Buffer.from([6]), Buffer.from('secret')])

type Case = {
  /** What the client sends first. Then it floods with `block`. */
  first: (target: string, port: number) => string | Buffer
  block?: Buffer
  /** The target sends this and floods with `answerBlock`. The client neither floods nor reads. */
  answer?: string
  answerBlock?: Buffer
  /** The target sends this and nothing more. */
  reply?: string
  /** The client speaks TLS to the proxy. */
  tls?: boolean
  mbps?: number
  denied?: string[]
  /** The target's name never resolves. */
  unresolved?: boolean
}
const bytes = (text: string): Buffer => Buffer.from(text.repeat(Math.ceil(65_536 / text.length)))

const cases: Record<string, Case> = {
  'a head that does not end': { first: () => 'GET http://x/ HTTP/1.1\r\nA: ' },
  'a SOCKS greeting with much behind it': { first: () => Buffer.from([5, 255]) },
  'a SOCKS request for a name that is not found yet': {
    first: () => Buffer.concat([socks, Buffer.from([5, 1, 0, 3, 6]), Buffer.from('x.test'), Buffer.from([0, 80])]),
    unresolved: true
  },
  'a request for a name that is not found yet': {
    first: () => `POST http://x.test/ HTTP/1.1\r\nHost: x.test\r\n${login}Content-Length: ${FLOOD}\r\n\r\n`,
    unresolved: true
  },
  'a request body': {
    first: to => `POST http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}Content-Length: ${2 * FLOOD}\r\n\r\n`
  },
  'a request body in chunks': {
    first: to => `POST http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}Transfer-Encoding: chunked\r\n\r\n`,
    // Large chunks, because the framing of small ones is not passed on.
    block: bytes(`1000\r\n${'a'.repeat(4096)}\r\n`)
  },
  'requests behind one that is under way': {
    first: to => `GET http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`,
    block: bytes('GET http://x.test/ HTTP/1.1\r\nHost: x.test\r\n\r\n')
  },
  'refused requests whose answers nobody reads': {
    first: () => 'GET http://x.test/ HTTP/1.1\r\nHost: x.test\r\n\r\n',
    block: bytes('GET http://x.test/ HTTP/1.1\r\nHost: x.test\r\n\r\n')
  },
  'what follows a refusal that ends the connection': { first: () => 'nonsense\r\n\r\n' },
  'a tunnel upwards': { first: to => `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n` },
  'a tunnel upwards whose names are judged': {
    first: to => `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`,
    denied: ['denied.test']
  },
  'a hello in a judged tunnel': {
    first: to => Buffer.concat([Buffer.from(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`), hello(65_000)]),
    denied: ['denied.test']
  },
  'a tunnel downwards': { first: to => `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`, answer: '' },
  'an answer': {
    first: to => `GET http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`,
    answer: 'HTTP/1.1 200 OK\r\n\r\n'
  },
  'the head of an answer': {
    first: to => `GET http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`,
    answer: 'HTTP/1.1 200 OK\r\nA: '
  },
  'answers before the answer': {
    first: to => `GET http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`,
    answer: `HTTP/1.1 100 Continue\r\nA: ${'a'.repeat(60_000)}\r\n\r\n`.repeat(20)
  }
}

const connectTo = (to: string): string => `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`
const upgradeTo = (to: string): string =>
  `GET http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
const UPGRADED = 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const IN_CHUNKS = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const CHUNKS = bytes(`1000\r\n${'a'.repeat(4096)}\r\n`)

Object.assign(cases, {
  'a judged tunnel downwards': { first: connectTo, answer: '', denied: ['denied.test'] },
  'an answer in chunks': {
    first: to => `GET http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`,
    answer: IN_CHUNKS,
    answerBlock: CHUNKS
  },
  'an answer whose chunks are put together': {
    first: to => `GET http://${to}/ HTTP/1.0\r\nHost: ${to}\r\n${login}\r\n`,
    answer: IN_CHUNKS,
    answerBlock: CHUNKS
  },
  'what switched protocols, upwards': { first: upgradeTo, reply: UPGRADED },
  'what switched protocols, downwards': { first: upgradeTo, answer: UPGRADED },
  'a tunnel upwards that a speed holds up': { first: connectTo, mbps: 0.001 },
  'a tunnel downwards that a speed holds up': { first: connectTo, answer: '', mbps: 0.001 },
  'a tunnel upwards inside TLS': { first: connectTo, tls: true },
  'a tunnel downwards inside TLS': { first: connectTo, answer: '', tls: true },
  'a judged tunnel upwards inside TLS': { first: connectTo, tls: true, denied: ['denied.test'] },
  'a tunnel upwards inside TLS that a speed holds up': { first: connectTo, tls: true, mbps: 0.001 },
  'an answer inside TLS': {
    first: to => `GET http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`,
    answer: 'HTTP/1.1 200 OK\r\n\r\n',
    tls: true
  },
  'refused requests inside TLS whose answers nobody reads': {
    first: () => 'GET http://x.test/ HTTP/1.1\r\nHost: x.test\r\n\r\n',
    block: bytes('GET http://x.test/ HTTP/1.1\r\nHost: x.test\r\n\r\n'),
    tls: true
  },
  // Records of a handshake that never completes, written without TLS.
  'a TLS handshake that does not end': {
    first: () => tlsHello([serverName('proxy.test')]),
    block: Buffer.concat(
      Array.from({ length: 4 }, () => Buffer.concat([Buffer.from([22, 3, 3, 64, 0]), Buffer.alloc(16_384)]))
    )
  }
} satisfies Record<string, Case>)

let secureContext: SecureContext
beforeAll(async () => {
  secureContext = await newSecureContext()
})

/** A client connection that reads only what the handshake needs. */
async function client(port: number, tls: boolean): Promise<Socket> {
  const raw = new RawClient('127.0.0.1', port)
  if (!tls) {
    raw.socket.pause()
    return raw.socket
  }
  raw.socket.removeAllListeners('data')
  const socket = connectTls({ socket: raw.socket, rejectUnauthorized: false })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  socket.pause()
  return socket
}

describe('what a connection can hold is bounded', () => {
  test.for(Object.entries(cases))('%s', async ([, one]) => {
    const { first, block, answer, answerBlock, reply, denied, unresolved, mbps, tls = false } = one
    const target = await tcpTarget(socket => {
      socket.pause()
      if (reply !== undefined) socket.write(reply)
      if (answer === undefined) return
      socket.write(answer)
      flood(socket, answerBlock)
    })
    const { plane, port, accepted, connected, readBefore } = await testPlane({
      mbps,
      denied: denied ?? [],
      resolve: (_name, _family, done) => {
        if (unresolved !== true) done({ ok: false, reason: 'not-found' })
      },
      limits: { headMs: 60_000 }
    })
    plane.secureContext = secureContext
    const socket = await client(port, tls)
    socket.write(first(target.host, target.port), 'latin1')
    if (answer === undefined) flood(socket, block)
    const near = await until('the connection', () => accepted[0])
    let most = 0
    let [seen, since] = [-1, performance.now()]
    // The flood is over when nothing has moved for a while. From there on nothing more is buffered.
    await until('the flood to stop', () => {
      const far: RawSocket | undefined = connected.at(-1)
      const unsent = near.unsent + (far?.unsent ?? 0)
      // Bytes that came in and did not go out.
      const up = near.destroyed || far === undefined ? 0 : near.bytesRead - (far.bytesWritten - far.unsent)
      const down = far === undefined ? 0 : far.bytesRead - (near.bytesWritten - near.unsent)
      most = Math.max(most, unsent, up, down)
      const moved = near.bytesRead + near.bytesWritten - unsent + (far?.bytesRead ?? 0)
      if (moved !== seen) [seen, since] = [moved, performance.now()]
      return near.destroyed || performance.now() - since > 40
    })
    expect(most).toBeLessThan(BOUND)
    // Without a target the agent keeps what arrives before the first answer, and drops what follows a refusal.
    if (connected.length === 0) expect(readBefore[0] ?? near.bytesRead).toBeLessThan(BOUND)
  })
})
