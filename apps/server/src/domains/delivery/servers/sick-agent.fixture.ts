import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from '../../../infra/db/drizzle.ts'
import { servers } from '../../servers/tables.ts'
import type { ServersStack, TestServer } from './servers.fixture.ts'

/** Answers a call in the agent's place. @returns false if the agent should answer it */
export type Answer = (call: { method: string; path: string; body: string }, response: ServerResponse) => boolean

/** Puts a proxy in front of a server's agent. @returns a function that removes it */
export async function standBefore(
  stack: ServersStack,
  server: TestServer,
  answer: Answer
): Promise<() => Promise<void>> {
  const { db } = stack.ctx
  const [row] = await db.select().from(servers).where(eq(servers.id, server.id))
  if (!row) throw new Error('no such server')
  const front = createServer((call, response) => {
    let body = ''
    call.setEncoding('utf8').on('data', (part: string) => (body += part))
    call.on('end', () => {
      const [method, path] = [call.method ?? '', call.url ?? '']
      if (answer({ method, path, body }, response)) return
      const passed = request({ host: '127.0.0.1', port: row.agentPort, path, method, headers: call.headers }, reply => {
        response.writeHead(reply.statusCode ?? 500, reply.headers)
        reply.pipe(response)
      })
      passed.on('error', () => response.destroy())
      passed.end(body)
    })
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  const { port } = front.address() as AddressInfo
  await db.update(servers).set({ agentPort: port }).where(eq(servers.id, server.id))
  return async () => {
    await db.update(servers).set({ agentPort: row.agentPort }).where(eq(servers.id, server.id))
    front.closeAllConnections()
    front.close()
  }
}

export const answerWith = (response: ServerResponse, status: number, body: object): true => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  return true
}

/** An agent whose disk is full: it answers questions, but fails to make changes. */
export const diskFull: Answer = ({ method }, response) =>
  (method === 'PUT' || method === 'DELETE') &&
  answerWith(response, 500, { status: 500, reason: 'internal', msg: 'ENOSPC: no space left on device' })

/** An agent that accepts everything and holds nothing. */
export const otherShape: Answer = ({ method, path }, response) =>
  method === 'PUT' && path.startsWith('/api/users/') && answerWith(response, 200, { proxies: [], hash: 'f' })
