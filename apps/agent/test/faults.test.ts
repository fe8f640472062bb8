import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { ClientConnection, Stage } from '../src/proxy/connection.ts'
import type { RawSocket } from '../src/proxy/raw-socket.ts'
import { proxied, RawClient, tcpTarget, until } from './test-agent.ts'
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

/** What leads to each callback of a stage. */
const causes: Record<
  Exclude<keyof Stage, 'endsWith' | 'judgeAgain'>,
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
        // The first connection has a stage that fails, later ones have one that does nothing.
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

/** Does what the test asks for by name, and fails in one step. */
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
