import { execFile } from 'node:child_process'
import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, copyFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Duplex } from 'node:stream'
import { connect as connectTls, type ConnectionOptions, createSecureContext, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { AgentHealth } from '@netlet/contract/agent'
import {
  basic,
  floodTarget,
  httpTarget,
  lease,
  onEnd,
  proxied,
  RawClient,
  tcpTarget,
  tempFolder,
  type TestAgent,
  testAgent,
  tlsClient,
  until
} from './test-agent.ts'
import { newCertificate } from './certificates.ts'
import { servingAgent } from './takeovers.ts'
import { defaultLimits } from '../src/proxy/limits.ts'
import { NEVER, testPlane } from './test-plane.ts'

const run = promisify(execFile)

let folder: string
let agent: TestAgent
let ip: string
const at = (name: string): string => join(folder, name)
const pem = (name: string): { cert: string; key: string } => ({ cert: at(`${name}.pem`), key: at(`${name}.key`) })

beforeAll(async () => {
  folder = await tempFolder()
  for (const name of ['first', 'second']) await newCertificate(name, { folder, names: 'DNS:proxy.test' })
  for (const [from, to] of Object.entries({ 'first.pem': 'used.pem', 'first.key': 'used.key' }))
    await copyFile(at(from), at(to))
  agent = await testAgent({ config: { proxyTls: pem('used') } })
  ip = `${agent.net}.1.1`
  await lease(agent.call, 'u', [`${agent.net}.1.0/30`], { denied_domains: ['denied.test'] })
})

const dial = (port = agent.proxyPort, options: ConnectionOptions = {}): Promise<TLSSocket> =>
  tlsClient(port, { host: ip, allowHalfOpen: true, ...options })

async function securePlane(options?: Parameters<typeof testPlane>[0]): ReturnType<typeof testPlane> {
  const made = await testPlane(options)
  made.plane.secureContext = createSecureContext({
    cert: readFileSync(at('first.pem')),
    key: readFileSync(at('first.key'))
  })
  return made
}

async function head(socket: TLSSocket): Promise<string> {
  let read = ''
  while (!read.includes('\r\n\r\n')) read += String((await once(socket, 'data'))[0])
  return read
}

/** A CONNECT tunnel inside TLS. */
async function tunnel(to: string): Promise<TLSSocket> {
  const socket = await dial()
  socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${basic('u')}\r\n`)
  expect(await head(socket)).toMatch(/^HTTP\/1\.1 200 /)
  return socket
}

/** The name in the proxy's certificate. */
async function subject(port = agent.proxyPort): Promise<string> {
  const socket = await dial(port)
  const { subject: name } = socket.getPeerCertificate()
  socket.destroy()
  return String(name.CN)
}

describe('TLS to the proxy', () => {
  test('serves curl, plain requests and tunnels, and leaves from the address of the outer connection', async () => {
    const target = await httpTarget()
    const proxy = ['--resolve', `proxy.test:${agent.proxyPort}:${ip}`, '--proxy-cacert', at('first.pem')]
    const through = [...proxy, '-sS', '--proxy', `https://u:secret@proxy.test:${agent.proxyPort}`]
    for (const way of [[], ['--proxytunnel']]) {
      const { stdout } = await run('curl', [...through, ...way, `http://${target.host}/a`])
      expect(JSON.parse(stdout)).toMatchObject({ from: ip, method: 'GET' })
    }
    // The same port still serves plain connections, and the same rules apply inside TLS.
    expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
    const denied = await dial()
    denied.write(`CONNECT denied.test:443 HTTP/1.1\r\nHost: denied.test\r\n${basic('u')}\r\n`)
    expect(await head(denied)).toMatch(/^HTTP\/1\.1 403 /)
    const wrong = await dial()
    wrong.write(`GET http://${target.host}/ HTTP/1.1\r\nHost: a\r\n${basic('u', 'wrong')}Connection: close\r\n\r\n`)
    expect(await head(wrong)).toMatch(/^HTTP\/1\.1 407 /)
    // TLS ends properly, so that no client takes the answer for truncated.
    await once(wrong.resume(), 'end')
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s takes a request whose body comes with its head', async version => {
    const target = await httpTarget()
    for (const size of [16_384, 60_000, 200_000]) {
      const socket = await dial(agent.proxyPort, { minVersion: version, maxVersion: version })
      const request = `POST http://${target.host}/echo HTTP/1.1\r\nHost: a\r\n${basic('u')}Connection: close\r\n`
      socket.write(`${request}Content-Length: ${size}\r\n\r\n${'b'.repeat(size)}`)
      expect((await text(socket)).match(/b{99,}/)?.[0].length).toBe(size)
    }
  })

  test('brings megabytes both ways whole, ends one direction at a time, and speaks SOCKS', async () => {
    const target = await tcpTarget(socket => void socket.pipe(socket))
    const sent = randomBytes(6 << 20)
    const socket = await tunnel(target.host)
    socket.end(sent)
    const got = createHash('sha256')
    for await (const chunk of socket as AsyncIterable<Buffer>) got.update(chunk)
    expect(got.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'))

    const socks = await dial()
    socks.write(Buffer.concat([Buffer.from([5, 1, 2, 1, 1]), Buffer.from('u\x06secret')]))
    const port = Buffer.alloc(2)
    port.writeUInt16BE(target.port)
    socks.write(Buffer.concat([Buffer.from([5, 1, 0, 1, 127, 0, 0, 1]), port, Buffer.from('hello')]))
    let answer = Buffer.alloc(0)
    socks.on('data', (chunk: Buffer) => (answer = Buffer.concat([answer, chunk])))
    await until('the echo', () => answer.toString('latin1').endsWith('hello'))
  })

  test('tells a broken stream from an ended one', async () => {
    const target = await tcpTarget(socket => {
      socket.write('half')
      socket.once('data', () => socket.resetAndDestroy())
    })
    const socket = await tunnel(target.host)
    expect(String((await once(socket, 'data'))[0])).toBe('half')
    let ended = false
    socket.on('end', () => (ended = true))
    const error = new Promise<NodeJS.ErrnoException>(resolve => socket.once('error', resolve))
    socket.resume().write('go')
    expect((await error).code).toBe('ECONNRESET')
    expect(ended).toBe(false)
  })

  test('a handshake that does not come to its end is a stranger like others, and ends in time', async () => {
    const patient = await securePlane({ limits: { sweepMs: NEVER } })
    const slow = new RawClient('127.0.0.1', patient.port).send(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252]))
    const nonsense = new RawClient('127.0.0.1', patient.port)
    nonsense.send(Buffer.concat([Buffer.from([22]), Buffer.alloc(2000, 99)]))
    await nonsense.over()
    await until('the slow one', () => patient.plane.handshakes.size === 1)
    await until('its end', () => {
      patient.pass(defaultLimits.headMs)
      return slow.ended || slow.closed
    })
    expect(patient.lines.filter(line => /TLS - 400 0 0 0 tls-failed/.test(line))).toHaveLength(2)
    const limited = await securePlane({ limits: { strangersPerClient: 2 } })
    const first = new RawClient('127.0.0.1', limited.port).send(Buffer.from([22, 3, 1]))
    await until('the first', () => limited.plane.connections === 1)
    for (let n = 0; n < 2; n++) new RawClient('127.0.0.1', limited.port).send(Buffer.from([22, 3, 1]))
    // The oldest stranger is closed to make room.
    await first.over()
    expect(limited.plane.connections).toBeLessThanOrEqual(2)
  })

  test('holds little for a client that does not read', async () => {
    const block = Buffer.alloc(65_536)
    let written = 0
    const target = await tcpTarget(socket => {
      const pump = (): void => {
        do written += block.length
        while (written < 96 << 20 && socket.write(block))
      }
      socket.on('drain', pump)
      pump()
    })
    const { port, accepted, connected } = await securePlane()
    const socket = await tlsClient(port)
    socket.write(`CONNECT ${target.host} HTTP/1.1\r\nHost: a\r\n${basic('u')}\r\n`)
    await head(socket)
    socket.pause()
    let [seen, since] = [-1, performance.now()]
    await until('the flood to stop', () => {
      if (written !== seen) [seen, since] = [written, performance.now()]
      return performance.now() - since > 100
    })
    const [near, far] = [accepted[0], connected.at(-1)]
    expect((far?.bytesRead ?? 0) - ((near?.bytesWritten ?? 0) - (near?.unsent ?? 0))).toBeLessThan(600_000)
    expect(written).toBeLessThan(96 << 20)
  })

  test('resets a client that reads nothing and breaks its encryption, and reads no more of it', async () => {
    const target = await floodTarget()
    const { plane, port, accepted } = await securePlane()
    const raw = connect({ host: '127.0.0.1', port })
    onEnd(() => raw.destroy())
    raw.on('error', () => {})
    const below = new Duplex({
      read() {},
      write: (chunk: Buffer, _encoding, written) => void raw.write(chunk, written)
    })
    raw.on('data', (chunk: Buffer) => below.push(chunk))
    const socket = connectTls({ socket: below, rejectUnauthorized: false })
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    socket.write(`CONNECT ${target.host} HTTP/1.1\r\nHost: a\r\n${basic('u')}\r\n`)
    await head(socket)
    raw.pause()
    const [near] = accepted
    await until('bytes that do not leave', () => (near?.unsent ?? 0) > 0)
    // A record that is not encrypted.
    raw.write(Buffer.concat([Buffer.from([23, 3, 3, 0, 40]), Buffer.alloc(40, 7)]))
    await until('the reset', () => near?.destroyed === true && plane.connections === 0)
  })

  test('an upload goes on whole where the target ended first and reads slowly', async () => {
    let got = 0
    let over = false
    const targets: Socket[] = []
    const target = await tcpTarget(socket => {
      targets.push(socket)
      socket.pause()
      socket.end('bye')
      socket.on('data', (chunk: Buffer) => (got += chunk.length))
      socket.on('end', () => (over = true)).on('error', () => {})
    })
    const { port, accepted, connected } = await securePlane()
    const raw = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    // Node's TLS ends both directions at once unless `allowHalfOpen` is set.
    const socket = connectTls({ socket: raw, rejectUnauthorized: false, allowHalfOpen: true } as ConnectionOptions)
    onEnd(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    socket.write(`CONNECT ${target.host} HTTP/1.1\r\nHost: a\r\n${basic('u')}\r\n`)
    let ended = false
    socket.on('end', () => (ended = true)).resume()
    await until('the end of the target', () => ended)
    const waits = (): boolean => (connected.at(-1)?.unsent ?? 0) > 0
    let sent = 0
    while (!waits()) {
      socket.write(Buffer.alloc(16_384))
      sent += 16_384
      await until('the piece', () => (accepted[0]?.bytesRead ?? 0) >= sent || waits())
    }
    socket.end(Buffer.alloc(6000))
    sent += 6000
    // The last piece waits in the agent after its client has gone.
    await until('the last', () => raw.writableLength === 0)
    targets[0]?.resume()
    await until('the end', () => over)
    expect(got).toBe(sent)
  })

  test('takes a new certificate for new connections, and keeps the one it has while the new is no pair', async () => {
    const before = await tunnel((await tcpTarget(socket => void socket.pipe(socket))).host)
    await copyFile(at('second.pem'), at('used.pem'))
    await agent.renewCertificate()
    expect(await subject()).toBe('first')
    await copyFile(at('second.key'), at('used.key'))
    await agent.renewCertificate()
    expect(await subject()).toBe('second')
    before.write('still here')
    expect(String((await once(before, 'data'))[0])).toBe('still here')
  })

  test('says with its health and its figures when the certificate ends that it shows, of a chain the first one', async () => {
    const told = async () => {
      const reply = await fetch(`http://127.0.0.1:${agent.port}/healthz`)
      return ((await reply.json()) as AgentHealth).certificates
    }
    const figures = async () =>
      (await (await fetch(`http://127.0.0.1:${agent.port}/metrics`)).text()).match(/^netlet_agent_certificate.*$/gm)
    const endOf = (name: string) => new X509Certificate(readFileSync(at(name))).validToDate.toISOString()
    const figureOf = (name: string) => [
      `netlet_agent_certificate_end_seconds{port="proxy"} ${Date.parse(endOf(name)) / 1000}`
    ]
    await newCertificate('short', { folder, days: 1 })
    for (const kind of ['pem', 'key']) await copyFile(at(`second.${kind}`), at(`used.${kind}`))
    await agent.renewCertificate()
    expect(await told()).toEqual({ api: null, proxy: endOf('second.pem'), proxy_names: ['proxy.test'] })
    expect(await figures()).toEqual(figureOf('second.pem'))
    await appendFile(at('used.pem'), readFileSync(at('short.pem')))
    await agent.renewCertificate()
    expect(await told()).toEqual({ api: null, proxy: endOf('short.pem'), proxy_names: ['proxy.test'] })
    expect(await figures()).toEqual(figureOf('short.pem'))
  })

  test('is there in workers as well, and a signal brings the new certificate', async () => {
    for (const kind of ['pem', 'key']) await copyFile(at(`first.${kind}`), at(`worker.${kind}`))
    const { cert, key } = pem('worker')
    // No supervisor follows a new process, so this one reads the files again.
    const { agent: other } = await servingAgent({ PROXY_TLS_CERT: cert, PROXY_TLS_KEY: key, AGENT_PID_FILE: '' })
    const { child, proxyPort, exited } = other
    expect(await subject(proxyPort)).toBe('first')
    for (const kind of ['pem', 'key']) await copyFile(at(`second.${kind}`), at(`worker.${kind}`))
    child.kill('SIGHUP')
    await until('the new one', async () => (await subject(proxyPort)) === 'second')
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  })
})
