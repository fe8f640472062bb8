import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export type Received = { path: string; headers: IncomingHttpHeaders; body: string }
type Answer = (reply: ServerResponse, request: IncomingMessage) => void

export type Receiver = {
  /** Its address, without a path. */
  origin: string
  got: Received[]
  /** Sets the reply for a path; by default 200. */
  answer(path: string, answer: Answer | number): void
  close(): Promise<void>
}

/** A customer's server on loopback that stores its requests. */
export async function startReceiver(): Promise<Receiver> {
  const got: Received[] = []
  const answers = new Map<string, Answer | number>()
  const server = createServer((request, reply) => void take(request, reply))
  async function take(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const path = request.url ?? ''
    got.push({ path, headers: request.headers, body: Buffer.concat(parts).toString() })
    const answer = answers.get(path) ?? 200
    if (typeof answer === 'number') reply.writeHead(answer).end(`answer ${answer}`)
    else answer(reply, request)
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    got,
    answer: (path, answer) => void answers.set(path, answer),
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** The event if its signature matches this secret. @throws otherwise */
export const verified = (secret: string, { headers, body }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>)
