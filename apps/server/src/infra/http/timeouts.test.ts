import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from './app.ts'

let app: FastifyInstance
let port: number

beforeAll(async () => {
  app = await createApp({
    log: pino({ level: 'silent' }),
    trustProxy: false,
    timeouts: { headers: 300, request: 600, idle: 2_000, check: 50 }
  })
  app.post('/api/echo', async request => request.body)
  app.get('/api/slow', async () => {
    await new Promise(resolve => setTimeout(resolve, 1_000))
    return { slow: true }
  })
  app.get('/api/cached', async (_request, reply) => reply.header('cache-control', 'public, max-age=5').send({}))
  app.get('/page', async () => 'page')
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterAll(() => app?.close())

/** Sends these bytes and nothing more. @returns the reply up to the end of the connection */
async function send(bytes: string): Promise<string> {
  // With allowHalfOpen this client never ends its own side.
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => (text += part))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (bytes !== '') socket.write(bytes)
  await once(socket, 'end')
  socket.destroy()
  return text
}

const HEAD = 'POST /api/echo HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\n'

test.concurrent.each([
  ['half a body', `${HEAD}Content-Length: 100\r\n\r\n{"half":`],
  ['half a chunked body', `${HEAD}Transfer-Encoding: chunked\r\n\r\n7\r\n{"half"\r\n`],
  ['half the headers', HEAD],
  ['half a line', 'POST /api/ec']
])('%s is answered in our envelope and the connection ends', async (_what, bytes) => {
  const reply = await send(bytes)
  expect(reply).toMatch(/^HTTP\/1\.1 408 /)
  expect(reply).toContain('"msg":"The request took too long to arrive. Please try again."')
})

test.concurrent('an idle connection ends', async () => {
  await send('')
})

test.concurrent('a reply may take longer than a request', async () => {
  const reply = await fetch(`http://127.0.0.1:${port}/api/slow`)
  expect(await reply.json()).toEqual({ slow: true })
})

test.concurrent('caches keep no API reply unless it allows that', async () => {
  const cached = async (path: string) => (await app.inject(path)).headers['cache-control']
  expect(await cached('/api/slow')).toBe('no-store')
  expect(await cached('/api/unknown')).toBe('no-store')
  expect(await cached('/api/cached')).toBe('public, max-age=5')
  expect(await cached('/page')).toBeUndefined()
})
