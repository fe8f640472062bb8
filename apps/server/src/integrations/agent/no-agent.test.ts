import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createAgentClient } from './client.ts'

/** The client's result for a server that is no agent and answers this. */
async function resultOf(status: number, body: string) {
  const server = createServer((_request, response) => response.writeHead(status).end(body))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return createAgentClient({ host: '127.0.0.1', port, token: 'secret', certificate: null }).info()
}

test.each([
  [404, '', 'What answers there is not a Netlet agent (HTTP 404)'],
  [503, '', 'What answers there is not a Netlet agent (HTTP 503)'],
  [404, 'no such page', 'no such page'],
  [200, 'welcome', 'What answers there is not a Netlet agent']
])('a server that answers %s %j is described in words', async (status, body, message) => {
  expect(await resultOf(status, body)).toMatchObject({ ok: false, message })
})
