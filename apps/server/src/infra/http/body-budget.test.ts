import { EventEmitter, once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from './app.ts'
import { openBodyBudget } from './mount.ts'

const KB = 1024

/** A server whose callers without a session may hold 100 kB of bodies, and 60 kB from one client. */
async function startServer() {
  const app = await createApp({ log: pino({ level: 'silent' }), trustProxy: false })
  let started = 0
  const count = openBodyBudget({ all: 100 * KB, client: 60 * KB })
  app.post('/echo', {
    preParsing: (request, reply, payload, next) => {
      started++
      next(null, count(String(request.headers['x-client']), reply, payload as Readable))
    },
    handler: async request => ({ bytes: request.rawBody?.length })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => app.close())
  const { port } = app.server.address() as AddressInfo
  /** Sends a body up to its last byte. */
  const start = async (client: string, kilobytes: number) => {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const head = `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Client: ${client}\r\nContent-Length: ${kilobytes * KB}\r\n\r\n`
    let received = ''
    socket.setEncoding('utf8').on('data', (part: string) => (received += part))
    await once(socket, 'connect')
    const before = started
    socket.write(`${head}"${'a'.repeat(kilobytes * KB - 2)}`)
    await expect.poll(() => started).toBe(before + 1)
    const status = () => Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0)
    return { status, end: () => socket.write('"') }
  }
  return { start }
}

test('the oldest slow body of a client makes room for its next one', async () => {
  const { start } = await startServer()
  const first = await start('a', 25)
  const second = await start('a', 25)
  const third = await start('a', 25)
  await expect.poll(first.status).toBe(408)
  second.end()
  third.end()
  await expect.poll(second.status).toBe(200)
  await expect.poll(third.status).toBe(200)
  // What ended holds nothing.
  const next = await start('a', 50)
  next.end()
  await expect.poll(next.status).toBe(200)
})

test('if all hold too much, the client that holds most makes room for others', async () => {
  const { start } = await startServer()
  const flood = [await start('flood', 25), await start('flood', 30)]
  const other = await start('other', 40)
  const stranger = await start('stranger', 20)
  await expect.poll(() => flood.map(one => one.status())).toEqual([408, 0])
  other.end()
  stranger.end()
  await expect.poll(other.status).toBe(200)
  await expect.poll(stranger.status).toBe(200)
})

test('a client that breaks off after its body was refused ends no process', async () => {
  const payload = new PassThrough()
  const reply = { raw: new EventEmitter() } as unknown as FastifyReply
  const stream = openBodyBudget()('a', reply, payload)
  // `once` would listen for the error.
  const closed = new Promise(resolve => stream.on('close', resolve))
  payload.destroy(new Error('aborted'))
  await closed
  expect(stream.errored?.message).toBe('aborted')
})
