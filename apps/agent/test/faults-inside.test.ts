// What faults.test.ts shows of plain TCP, inside TLS, of judged tunnels and of datagrams.
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { ClientConnection } from '../src/proxy/connection.ts'
import type { Plane } from '../src/proxy/plane.ts'
import { newSecureContext } from './secure-context.ts'
import { basic, echoTarget, onEnd, RawClient, tcpTarget, tunnel, until } from './test-agent.ts'
import { testPlane } from './test-plane.ts'

let secureContext: SecureContext
beforeAll(async () => {
  secureContext = await newSecureContext()
})

const fail = (): never => {
  throw new Error('a mistake')
}
/** Also what the runtime calls for inside the process: there only a connection that goes on can be told from one that ended. */
const countedOnce = async (plane: Plane, lines: string[], left: number): Promise<void> => {
  await until('the fault', () => plane.figures.faults > 0)
  await until('the connection to be gone', () => plane.connections === left)
  expect(plane.figures.faults).toBe(1)
  expect(lines.filter(line => line.endsWith('internal-error'))).toHaveLength(1)
  expect(plane.figures.outcomes['internal-error']).toBe(1)
  const counted = [...plane.collect()].map(({ codes }) => codes?.['internal-error'] ?? 0)
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(1)
}

describe('an exception inside TLS', () => {
  const request = `GET http://x.test/ HTTP/1.1\r\nHost: x.test\r\n${basic('u')}\r\n`

  async function asking(port: number): Promise<TLSSocket> {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
    onEnd(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    await answerTo(socket)
    return socket
  }
  async function answerTo(socket: TLSSocket): Promise<void> {
    socket.write(request)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 502 /)
  }

  test.for(['at once', 'in a later turn'])('%s ends that connection alone, and is counted', async when => {
    const { plane, port, lines } = await testPlane()
    plane.secureContext = secureContext
    const [one, other] = [await asking(port), await asking(port)]
    const isOver = vi.spyOn(plane.turns, 'isOver')
    if (when === 'in a later turn') isOver.mockReturnValueOnce(true)
    isOver.mockImplementationOnce(fail)
    one.write(request)
    await countedOnce(plane, lines, 1)
    await answerTo(other)
  })

  test('before the login ends that connection alone, and is counted for nobody', async () => {
    const { plane, port, lines } = await testPlane()
    plane.secureContext = secureContext
    const other = await asking(port)
    vi.spyOn(plane.turns, 'isOver').mockImplementationOnce(fail)
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
    socket.on('error', () => {})
    onEnd(() => socket.destroy())
    await countedOnce(plane, lines, 1)
    await answerTo(other)
  })
})

describe('an exception in a judged tunnel', () => {
  test.for(['at once', 'in a later turn'])('%s ends that tunnel alone, and is counted', async when => {
    const target = await echoTarget()
    const { plane, port, lines } = await testPlane({ denied: ['denied.test'] })
    const { rawClient: other } = await tunnel('127.0.0.1', port, 'u', target.host)
    const { rawClient } = await tunnel('127.0.0.1', port, 'u', target.host)
    vi.spyOn(plane.addressNames, 'of').mockImplementationOnce(fail)
    if (when === 'in a later turn') vi.spyOn(plane.turns, 'isOver').mockReturnValueOnce(true)
    rawClient.send('SSH-2.0-a\r\n')
    await countedOnce(plane, lines, 1)
    await rawClient.over()
    await until('its target to be let go', () => target.sockets.size === 1)
    other.send('SSH-2.0-b\r\n')
    await other.take(/SSH-2\.0-b/)
  })

  test('of a request that is under way says so in its line', async () => {
    const target = await tcpTarget(socket => void socket.resume())
    const { plane, port, lines } = await testPlane()
    const client = new RawClient('127.0.0.1', port)
    const to = `http://${target.host}/`
    client.send(`POST ${to} HTTP/1.1\r\nHost: ${target.host}\r\n${basic('u')}Content-Length: 9\r\n\r\n`)
    const connection = await until('the connection', () => [...plane.open.of('u')][0] as ClientConnection)
    await until('the target', () => connection.remote !== null)
    connection.stage.remoteData = fail
    for (const socket of target.sockets) socket.write('HTTP/1.1 200 OK\r\n\r\n')
    await countedOnce(plane, lines, 0)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(` POST ${target.host} 499 `)
  })
})

describe('an exception for a datagram', () => {
  async function bound(): Promise<UdpSocket> {
    const socket = createSocket('udp4')
    onEnd(() => socket.close())
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return socket
  }
  const name = (text: string, port: number): Buffer =>
    Buffer.from([0, 0, 0, 3, text.length, ...Buffer.from(text), port >> 8, port & 255])

  async function associate(port: number): Promise<{ control: RawClient; client: UdpSocket; relay: number }> {
    const control = new RawClient('127.0.0.1', port)
    const login = [5, 1, 2, 1, 1, ...Buffer.from('u'), 6, ...Buffer.from('secret')]
    control.send(Buffer.from([...login, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]))
    const reply = await control.bytes(14)
    return { control, client: await bound(), relay: reply.readUInt16BE(12) }
  }

  test.for(['of the client', 'of a target', 'that waits for its name'])(
    '%s ends that association alone, and is counted',
    async which => {
      const target = await bound()
      target.on('message', (data, from) => target.send(data, from.port, from.address))
      let found: () => void = () => {}
      const { plane, port, lines } = await testPlane({
        resolve: (host, _family, done) => {
          if (host !== 'slow.test') return done({ ok: true, addresses: ['127.0.0.1'] })
          found = () => done({ ok: true, addresses: null as never })
        }
      })
      const [one, other] = [await associate(port), await associate(port)]
      const connection = await until('it', () => [...plane.open.of('u')][0] as ClientConnection)
      const at = target.address().port
      if (which === 'of the client') connection.mayPass = fail
      if (which === 'of a target') connection.mayPass = direction => direction === 'up' || fail()
      const slow = which === 'that waits for its name'
      one.client.send(
        Buffer.concat([name(slow ? 'slow.test' : 'fast.test', at), Buffer.from('x')]),
        one.relay,
        '127.0.0.1'
      )
      if (slow) await until('the fault', () => (found(), plane.figures.faults === 1))
      await countedOnce(plane, lines, 1)
      await one.control.over()
      const answer = once(other.client, 'message')
      other.client.send(Buffer.concat([name('fast.test', at), Buffer.from('y')]), other.relay, '127.0.0.1')
      expect(((await answer) as [Buffer])[0].subarray(-1).toString()).toBe('y')
    }
  )
})
