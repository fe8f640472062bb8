import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { ClientConnection } from '../src/proxy/connection.ts'
import { defaultLimits } from '../src/proxy/limits.ts'
import { firstStage } from '../src/proxy/listener.ts'
import { guardedAgent, type Guarded } from './guarded.ts'
import { basic, RawClient, tcpTarget, until } from './test-agent.ts'
import { NEVER, testPlane } from './test-plane.ts'

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
    // The agent refuses these addresses without a lookup, so each answer is known at once.
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

  test('go on in a later turn of the loop where the turn is over', async () => {
    const { plane, port } = await testPlane()
    const answered = (): number => plane.figures.outcomes['refused-range'] ?? 0
    // As if each request used up a turn.
    Object.assign(plane.turns, {
      isOver: () => true,
      later: (_owner: string, work: () => void) => void setImmediate(work)
    })
    const [all, url] = [500, 'http://10.0.0.1/']
    new RawClient('127.0.0.1', port).send(get(url).repeat(all))
    let [most, before] = [0, 0]
    while (answered() < all) {
      await new Promise(resolve => setImmediate(resolve))
      most = Math.max(most, answered() - before)
      before = answered()
    }
    // One from the piece that arrived, and one from those that waited.
    expect(most).toBeLessThanOrEqual(2)
  })

  test('do not let a client be read whose tunnel made it wait, where they went on before their turn', async () => {
    let connection: ClientConnection | undefined
    const { plane, port } = await testPlane({ stage: each => firstStage((connection = each)) })
    const turns: Array<() => void> = []
    Object.assign(plane.turns, { isOver: () => true, later: (_owner: string, work: () => void) => turns.push(work) })
    const { host } = await tcpTarget(() => undefined)
    const client = new RawClient('127.0.0.1', port)
    client.send(`${get('http://10.0.0.1/')}CONNECT ${host} HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`)
    await until('the first', () => turns.length === 1)
    // The client drains an answer that it had not read.
    connection?.stage.clientDrain?.()
    await client.take(/200 /)
    const resume = vi.spyOn(connection?.socket ?? expect.fail('no connection'), 'resume')
    turns[0]?.()
    expect(resume).not.toHaveBeenCalled()
  })

  test('without credentials are answered a few times, and then the connection ends', async () => {
    const { port, lines } = await testPlane()
    const client = new RawClient('127.0.0.1', port).send('GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500))
    expect((await client.over()).split('HTTP/1.1 407 ')).toHaveLength(11)
    expect(lines).toHaveLength(10)
  })

  test('without credentials write so many lines of the access log, and one that tells of the others', async () => {
    const { port, lines } = await testPlane({ limits: { sweepMs: 100_000 } })
    const ask = async (): Promise<unknown> =>
      new RawClient('127.0.0.1', port).send('GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10)).over()
    for (let n = 0; n < 3; n++) await ask()
    expect(lines).toHaveLength(20)
    // A logged-in user has a line for each request.
    new RawClient('127.0.0.1', port).send(get('http://10.0.0.1/').repeat(30))
    await until('the lines of the customer', () => lines.length === 50)
    const swept = await testPlane({ limits: { sweepMs: 20 } })
    for (let n = 0; n < 3; n++) await new RawClient('127.0.0.1', swept.port).send('x\r\n\r\n').over()
    expect(swept.lines).toHaveLength(3)
  })

  test('of a customer write so many lines of refusals, and one that names the user and tells of the others', async () => {
    const { plane, port, lines } = await testPlane({
      limits: { sweepMs: 1000, newPerUser: 0, newPerAddress: 0, newPerClient: 0 }
    })
    const target = await tcpTarget(socket => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
    })
    const told = (): number[] =>
      lines.flatMap(line => / - u - - - 0 0 0 0 left-out:(\d+)$/.exec(line)?.slice(1).map(Number) ?? [])
    const written = (): number => lines.filter(line => line.includes(' refused-range')).length
    const all = 3000
    new RawClient('127.0.0.1', port).send(get('http://10.0.0.1/').repeat(all))
    await until('all of them', () => written() + told().reduce((sum, n) => sum + n, 0) === all)
    expect(written()).toBeLessThan(all / 2)
    expect(plane.figures.outcomes['refused-range']).toBe(all)
    // Each served request has a line.
    const url = `http://${target.host}/`
    new RawClient('127.0.0.1', port).send(get(url).repeat(150))
    await until('its lines', () => lines.filter(line => line.endsWith(' ok')).length === 150)
  })

  test('of a client that reads no answer are not read any more, and the connection ends', async () => {
    const { port, pass, accepted } = await testPlane({ limits: { sweepMs: NEVER } })
    const client = new RawClient('127.0.0.1', port)
    client.socket.pause()
    const piece = Buffer.from(get('http://10.0.0.1/').repeat(1000))
    const offered = 32 << 20
    for (let taken = 0; taken < offered; taken += piece.length) client.send(piece)
    await until('answers that do not leave', () => (accepted[0]?.unsent ?? 0) > 0)
    await until('its end', () => {
      pass(defaultLimits.idleMs)
      return accepted[0]?.destroyed
    })
    // Only the kernel's buffers fill up: the agent does not read all that the client offers.
    expect(accepted[0]?.bytesRead).toBeLessThan(offered / 2)
    client.socket.resume()
    await until('the client to hear of it', () => client.closed)
  })
})

test('bodies in chunks of one byte are written on in few writes, both ways', async () => {
  const { port, readBefore, connected } = await testPlane()
  const count = 20_000
  const tiny = '1\r\nx\r\n'.repeat(count)
  const target = await tcpTarget(socket => {
    let got = ''
    socket.on('data', chunk => {
      got += chunk.toString('latin1')
      if (got.endsWith(got.startsWith('GET') ? '\r\n\r\n' : '0\r\n\r\n'))
        socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${tiny}0\r\n\r\n`)
    })
  })
  const head = `POST http://${target.host}/ HTTP/1.1\r\nHost: x\r\n${basic('u')}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
  const whole = await new RawClient('127.0.0.1', port).send(`${head}${tiny}0\r\n\r\n`).over()
  expect(whole.split('1\r\nx\r\n')).toHaveLength(count + 1)
  // Chunks of one read are merged, so the target receives little more than their content.
  expect(connected.at(-1)?.bytesWritten).toBeLessThan(2 * count)

  const old = new RawClient('127.0.0.1', port).send(`GET http://${target.host}/ HTTP/1.0\r\n${basic('u')}\r\n`)
  expect(await old.over()).toContain('x'.repeat(count))
  expect(readBefore.length).toBeLessThan(500)
})
