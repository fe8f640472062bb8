/** Replies that never end: of these a test reads the beginning and leaves. */
import type { FastifyInstance, InjectOptions } from 'fastify'
import { text } from 'node:stream/consumers'

const isEndless = (type: unknown): boolean => typeof type === 'string' && type.startsWith('text/event-stream')

/** The text of a reply; of one that never ends what comes first. */
export async function textOf(reply: Response): Promise<string> {
  if (!reply.body || !isEndless(reply.headers.get('content-type'))) return reply.text()
  const reader = reply.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

/** `inject` for a call whose reply may never end: then its body is empty. */
export async function injectEndless(app: FastifyInstance, options: InjectOptions) {
  const reply = await app.inject({ ...options, payloadAsStream: true })
  const { statusCode, headers } = reply
  if (!isEndless(headers['content-type'])) return { statusCode, headers, body: await text(reply.stream()) }
  reply.stream().destroy()
  return { statusCode, headers, body: '' }
}
