import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { guardedAgent, type Guarded } from './guarded.ts'
import { basic, onEnd, proxied, RawClient, tcpTarget, until } from './test-agent.ts'

let agent: Guarded['agent']
let ip: string
let target: Guarded['target']
beforeAll(async () => {
  ;({ agent, ip, target } = await guardedAgent())
})

const get = (url: string): string => `GET ${url} HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`

describe('many requests at once on one connection', () => {
  test('are each answered where they are refused at once, however many wait behind a slow one', async () => {
    const answer = Promise.withResolvers<void>()
    const slow = await tcpTarget(socket =>
      socket.once('data', () => {
        void answer.promise.then(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow'))
      })
    )
    const refused = 5000
    // Addresses that are refused need no name server: each answer is known within the call.
    const client = new RawClient(ip, agent.proxyPort).send(
      get(`http://${slow.host}/`) + get('http://10.0.0.1/').repeat(refused)
    )
    await until('what one connection may keep waiting', () => client.socket.bytesWritten > 0)
    answer.resolve()
    await until('all answers', () => client.text.split('HTTP/1.1 403 ').length === refused + 1)
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK/)
    client.received = Buffer.alloc(0)
    client.send(get(`http://${target.host}/after`))
    await client.take(/"url":"\/after"/)
  })

  test('of a client that reads no answer are not read any more, and the connection ends', async () => {
    const socket = connect({ host: ip, port: agent.proxyPort, allowHalfOpen: true })
    onEnd(() => socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    const piece = Buffer.from('GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000))
    const offered = 64 * 1024 * 1024
    const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
    const write = (): Promise<unknown> =>
      Promise.race([closed, new Promise<void>(resolve => socket.write(piece, () => resolve()))])
    let taken = 0
    for (; taken < offered && !socket.destroyed; taken += piece.length) await write()
    // What the kernel holds for both ends, but not what the client offered.
    expect(taken).toBeLessThan(offered / 2)
    await closed
    expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
  })
})
