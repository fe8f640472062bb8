import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createLog } from '../log.ts'
import { createApp } from './app.ts'

test('a process that ends still answers what a reverse proxy sends by its open connections', async () => {
  const app = await createApp({ log: createLog('test', 'silent'), trustProxy: false })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  app.get('/slow', async () => (arrive(), await released, 'slow'))
  app.get('/next', async () => (release(), 'next'))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  let said = ''
  socket.setEncoding('utf8').on('data', (text: string) => (said += text))
  const request = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: shop\r\n\r\n`)
  request('/slow')
  await arrived
  const closed = app.close()
  await expect.poll(() => app.server.listening).toBe(false)
  request('/next')
  await expect.poll(() => said.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  await closed
  socket.destroy()
})
