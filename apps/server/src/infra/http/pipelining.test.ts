import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createApp } from './app.ts'
import { createShares } from './mount.ts'

let app: FastifyInstance
let port = 0
let begun = 0
let answer = () => {}
let answered = Promise.resolve()

beforeAll(async () => {
  app = await createApp({ log: pino({ level: 'silent' }), trustProxy: false })
  app.get('/wait', async () => {
    begun++
    await answered
    return 'x'.repeat(1000)
  })
  app.get('/now', async () => 'now')
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
beforeEach(() => {
  begun = 0
  answered = new Promise(done => (answer = done))
})
afterAll(() => app.close())

const requests = (path: string, count: number) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(count)

async function send(text: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  let read = ''
  socket.on('data', data => (read += String(data)))
  socket.write(text)
  return { socket, read: () => read }
}

test('a connection that pipelines requests without end is ended, and few of them begin', async () => {
  const { socket, read } = await send(requests('/wait', 1400))
  await once(socket, 'close')
  expect(begun).toBeLessThanOrEqual(8)
  expect(read()).toBe('')
  answer()
  expect((await fetch(`http://127.0.0.1:${port}/now`)).status).toBe(200)
})

test('a few pipelined requests are answered in sequence, as often as the client reads the answers', async () => {
  const { socket, read } = await send(requests('/now', 8))
  await expect.poll(() => read().split('HTTP/1.1 200').length - 1).toBe(8)
  socket.write(requests('/now', 8))
  await expect.poll(() => read().split('HTTP/1.1 200').length - 1).toBe(16)
  socket.destroy()
})

test('works of one key wait for each other beyond its share, in sequence, and those of another do not', async () => {
  const share = createShares(2)
  const ends: (() => void)[] = []
  const log: string[] = []
  const work = (name: string) => () =>
    new Promise<string>(end => {
      log.push(name)
      ends.push(() => end(name))
    })
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map(name => share(name.slice(0, 1), work(name)))
  await expect.poll(() => log).toEqual(['a1', 'a2', 'b1'])
  ends[1]?.()
  await expect.poll(() => log).toEqual(['a1', 'a2', 'b1', 'a3'])
  await expect(share('c', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  for (const at of [0, 2, 3]) ends[at]?.()
  await expect.poll(() => log.at(-1)).toBe('a4')
  ends[4]?.()
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1'])
})
