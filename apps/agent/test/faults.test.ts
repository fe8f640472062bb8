import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { SecureContext, TLSSocket } from 'node:tls'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { ClientConnection, Stage } from '../src/proxy/connection.ts'
import type { Plane } from '../src/proxy/plane.ts'
import type { RawSocket } from '../src/proxy/socket-types.ts'
import { newSecureContext } from './certificates.ts'
import {
  associate,
  basic,
  datagram,
  echoTarget,
  proxied,
  RawClient,
  tcpTarget,
  tlsClient,
  tunnel,
  udpSocket,
  udpTo,
  until
} from './test-agent.ts'
import { testPlane } from './test-plane.ts'

const quiet: Stage = {
  clientData: () => {},
  clientEnd: () => {},
  clientDrain: () => {},
  remoteData: () => {},
  remoteEnd: () => {},
  remoteDrain: () => {},
  remoteGone: () => {},
  tick: () => {},
  closed: () => {}
}
const fail = (): never => {
  throw new Error('a mistake in a stage')
}
const MEGABYTES = Buffer.alloc(16 << 20)

/** How a test triggers each callback of a stage. */
const causes: Record<
  Exclude<keyof Stage, 'setEndNote' | 'judgeAgain'>,
  (parts: { client: RawClient; far: () => Promise<Socket> }) => unknown
> = {
  clientData: ({ client }) => client.send('x'),
  clientEnd: ({ client }) => client.socket.end(),
  clientDrain: ({ client }) => client.send('write'),
  remoteData: async ({ client, far }) => {
    client.send('connect')
    ;(await far()).write('x')
  },
  remoteEnd: async ({ client, far }) => {
    client.send('connect')
    ;(await far()).end()
  },
  remoteDrain: async ({ client, far }) => {
    client.send('connect')
    ;(await far()).resume()
  },
  remoteGone: async ({ client, far }) => {
    client.send('connect')
    ;(await far()).resetAndDestroy()
  },
  tick: ({ client }) => client.send('x'),
  closed: ({ client }) => client.socket.resetAndDestroy()
}

describe('an exception that one connection causes', () => {
  test.for(Object.keys(causes) as Array<keyof typeof causes>)(
    'in %s ends that connection alone, and is counted',
    async step => {
      const target = await tcpTarget(socket => void socket.pause())
      let made = 0
      const { plane, port, lines, told } = await testPlane({
        // The first connection's stage fails. Later ones have a stage that does nothing.
        stage: connection => (made++ === 0 ? failing(step, connection, target.port) : quiet)
      })
      const client = new RawClient('127.0.0.1', port)
      const other = new RawClient('127.0.0.1', port)
      client.socket.pause()
      other.send('x')
      await until('both to be taken', () => made === 2)
      await causes[step]({
        client,
        far: () => until('the target', () => [...target.sockets][0])
      })
      if (step === 'clientDrain') client.socket.removeAllListeners('data').resume()
      await until('the fault', () => plane.figures.faults > 0)
      await until('the connection to be gone', () => plane.connections === 1)
      expect(plane.figures.faults).toBe(1)
      expect(told.join()).toContain('a mistake in a stage')
      if (step !== 'closed') expect(lines.filter(line => line.includes('internal-error'))).toHaveLength(1)
      expect(other.closed || other.ended).toBe(false)
      await until('nothing to be left of it', () => target.sockets.size === 0)
    }
  )

  test('while its target is looked up or dialled ends that connection alone, and is counted', async () => {
    const target = await tcpTarget(socket => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'))
    let answer: () => void = () => {}
    const { plane, port } = await testPlane({
      resolve: (name, _family, done) => {
        answer = () => done({ ok: true, addresses: name === 'bad.test' ? (null as never) : ['127.0.0.1'] })
      }
    })
    const client = new RawClient('127.0.0.1', port)
    client.send(
      `CONNECT bad.test:${target.port} HTTP/1.1\r\nProxy-Authorization: Basic dTpzZWNyZXQ=\r\nHost: a\r\n\r\n`
    )
    await until('the question', () => plane.connections === 1 && answer.name !== '')
    await until('the answer', () => {
      answer()
      return plane.figures.faults === 1
    })
    await client.over()
    expect(plane.connections).toBe(0)
    expect((await proxied('127.0.0.1', port, 'u', `http://127.0.0.1:${target.port}/`)).status).toBe(200)
  })

  test('when it is accepted ends that connection alone, and is counted', async () => {
    let made = 0
    const { plane, port } = await testPlane({ stage: () => (made++ === 0 ? fail() : quiet) })
    await new RawClient('127.0.0.1', port).over()
    const other = new RawClient('127.0.0.1', port)
    await until('the other to be open', () => plane.connections === 1)
    expect(plane.figures.faults).toBe(1)
    expect(other.closed).toBe(false)
    expect([...plane.collect()]).toMatchObject([{ user: '-', ip: '-', codes: { 'internal-error': 1 } }])
  })
})

/** A stage that obeys the test's commands and fails in one callback. */
function failing(step: keyof Stage, connection: ClientConnection, target: number): Stage {
  const stage: Stage = {
    ...quiet,
    clientData: chunk => {
      if (chunk.toString() === 'write') connection.socket.write(MEGABYTES)
      if (chunk.toString() !== 'connect') return
      const remote: RawSocket = connection.plane.sockets.connect('127.0.0.1', target, 4, '127.0.0.1', () => {
        connection.attach(remote)
        if (step === 'remoteDrain') remote.write(MEGABYTES)
      })
    }
  }
  return { ...stage, [step]: fail }
}

let secureContext: SecureContext
beforeAll(async () => {
  secureContext = await newSecureContext()
})

/** Waits until the fault is counted once and `left` connections remain. */
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
    const socket = await tlsClient(port)
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

  test('before the login ends that connection alone, and is counted for no user', async () => {
    const { plane, port, lines } = await testPlane()
    plane.secureContext = secureContext
    const other = await asking(port)
    vi.spyOn(plane.turns, 'isOver').mockImplementationOnce(fail)
    void tlsClient(port).catch(() => {})
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
  test.for(['of the client', 'of a target', 'that waits for its name'])(
    '%s ends that association alone, and is counted',
    async which => {
      const target = await udpSocket()
      target.on('message', (data, from) => target.send(data, from.port, from.address))
      let found: () => void = () => {}
      const { plane, port, lines } = await testPlane({
        resolve: (host, _family, done) => {
          if (host !== 'slow.test') return done({ ok: true, addresses: ['127.0.0.1'] })
          found = () => done({ ok: true, addresses: null as never })
        }
      })
      const [one, other] = [await associate('127.0.0.1', port), await associate('127.0.0.1', port)]
      const [client, second] = [await udpSocket(), await udpSocket()]
      const connection = await until('it', () => [...plane.open.of('u')][0] as ClientConnection)
      const at = target.address().port
      if (which === 'of the client') connection.mayPass = fail
      if (which === 'of a target') connection.mayPass = direction => direction === 'up' || fail()
      const slow = which === 'that waits for its name'
      client.send(datagram(udpTo.name(slow ? 'slow.test' : 'fast.test', at), 'x'), one.relay, '127.0.0.1')
      if (slow) await until('the fault', () => (found(), plane.figures.faults === 1))
      await countedOnce(plane, lines, 1)
      await one.control.over()
      const answer = once(second, 'message')
      second.send(datagram(udpTo.name('fast.test', at), 'y'), other.relay, '127.0.0.1')
      expect(((await answer) as [Buffer])[0].subarray(-1).toString()).toBe('y')
    }
  )
})
