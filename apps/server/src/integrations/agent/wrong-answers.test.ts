import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { foreignList } from '@netlet/contract/foreign'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { type AgentClient, createAgentClient } from './client.ts'

const body = { password: 'secret', prefixes: [] }

/** A client of a machine that answers like this. */
async function clientOf(answer: RequestListener): Promise<AgentClient> {
  const server = createServer(answer)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return createAgentClient({ host: '127.0.0.1', port, token: 'secret', certificate: null })
}

test.each([
  [404, '', 'What responds there is not a Netlet agent (HTTP 404)'],
  [503, '', 'What responds there is not a Netlet agent (HTTP 503)'],
  [404, 'no such page', 'no such page'],
  [200, 'welcome', 'What responds there is not a Netlet agent (HTTP 200)'],
  [200, '{"data":7}', 'The reply to GET /api/view-server-info has an unknown shape (status)']
])('a server that answers %s %j is described in words', async (status, body, message) => {
  const client = await clientOf((_request, response) => response.writeHead(status).end(body))
  expect(await client.info()).toMatchObject({ ok: false, message })
})

test.each([
  ['an agent', JSON.stringify({ status: 400, reason: 'outsidePrefixes', msg: 'no' }), 'refused'],
  ['a proxy in between', '<h1>429 Too Many Requests</h1>', 'failed']
])('a change that %s declines: %s', async (_who, text, kind) => {
  const client = await clientOf((_request, response) => response.writeHead(429).end(text))
  expect(await client.putUser('anna', body)).toMatchObject({ ok: false, kind })
})

test.each<[string, number, (client: AgentClient) => Promise<object>]>([
  ['PUT /api/users/anna', 64, client => client.putUser('anna', body)],
  ['DELETE /api/users/anna', 64, client => client.deleteUser('anna')],
  ['GET /api/state', 2048, client => client.state()],
  ['PUT /api/prefixes', 2048, client => client.putPrefixes([])],
  ['GET /api/view-server-info', 2048, client => client.info()],
  ['GET /api/traffic/changes', 2048, client => client.trafficChanges({ epoch: 'e', after: 0, limit: 5, fresh: false })],
  ['GET /api/connections', 2048, client => client.connections()],
  ['GET /api/log/follow', 2048, client => client.followLog({ after: 0 })],
  ['POST /api/check-exit', 64, client => client.checkExit({ prefix: '127.0.0.0/32', targets: [] })]
])('an endless reply to %s ends after %i kB', async (call, kilobytes, send) => {
  const part = Buffer.from('{},'.repeat(10_000))
  let sent = 0
  const client = await clientOf((_request, response) => {
    response.write('{"users":[')
    const more = () => {
      while (!response.destroyed && sent < 60_000_000) {
        sent += part.length
        if (!response.write(part)) return response.once('drain', more)
      }
      return response.end()
    }
    more()
  })
  const message = `The reply to ${call} has more than ${kilobytes} kB`
  expect(await send(client)).toEqual({ ok: false, kind: 'failed', message })
  // What the kernel's buffers hold comes on top.
  expect(sent).toBeLessThan(kilobytes * 1024 + 16_000_000)
})

test('an agent with many users is read by pages, and one whose pages do not end is left', async () => {
  const page = (after: string, names: string[], next?: string) => ({
    epoch: 'e',
    version: 1,
    prefixes: after === '' ? ['127.0.0.0/32'] : [],
    routes: [],
    users: names.map(user => ({ user, hash: 'h', generation: 1 })),
    next
  })
  const answering = (pages: Record<string, object>) =>
    clientOf((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://agent')
      response.end(JSON.stringify(pages[searchParams.get('after') ?? '']))
    })
  const whole = await answering({ '': page('', ['a', 'b'], 'b'), b: page('b', ['c']) })
  expect(await whole.state()).toMatchObject({
    ok: true,
    data: { prefixes: ['127.0.0.0/32'], users: [{ user: 'a' }, { user: 'b' }, { user: 'c' }] }
  })
  const endless = await answering({ '': page('', [], 'b'), b: page('b', [], 'b') })
  expect(await endless.state()).toMatchObject({ ok: false, message: 'The list of users does not end' })
  const other = await answering({ '': page('', ['b'], 'b'), b: { ...page('b', ['c']), epoch: 'new' } })
  expect(await other.state()).toMatchObject({ ok: false, message: 'The agent lost its state' })
})

test('a long refusal is cut', async () => {
  const client = await clientOf((_request, response) =>
    response.writeHead(422).end(JSON.stringify({ status: 422, reason: 'r'.repeat(100), msg: 'm'.repeat(6000) }))
  )
  const reply = await client.deleteUser('anna')
  expect(reply).toMatchObject({
    ok: false,
    kind: 'refused',
    message: `${'m'.repeat(499)}…`,
    reason: `${'r'.repeat(63)}…`
  })
})

test('a list of another machine ends at its first wrong row', () => {
  let rows = 0
  const row = z.unknown().refine(value => {
    rows++
    return typeof value === 'number'
  })
  expect(foreignList(row, 100_000).safeParse([1, ...Array.from({ length: 50_000 }, () => ({}))])).toMatchObject({
    success: false
  })
  expect(rows).toBe(2)
  expect(foreignList(row, 10).safeParse(Array.from({ length: 11 }, () => 1))).toMatchObject({ success: false })
  expect(rows).toBe(2)
})
