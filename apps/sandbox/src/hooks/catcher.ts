import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { openStore } from '../kit/store.ts'
import type { FastifyReply } from 'fastify'

export type Caught = {
  /** The last part of the address that received it. */
  at: string
  caught_at: string
  /** The header `webhook-id`; a known one is a redelivery. */
  id: string
  type: string
  /** Why the signature is wrong; null if it is right. */
  wrong: string | null
  seen_before: boolean
  body: string
}

const MAX_KEPT = 200

/** The last 200 posts to the catcher, newest first, kept across restarts. Each is verified with the current secret. */
export async function openCatcher(dir: string, { now, secret }: { now: () => number; secret: string }) {
  const store = await openStore<{ version: 1; secret: string; caught: Caught[] }>(join(dir, 'hooks.json'), () => ({
    version: 1,
    secret: '',
    caught: []
  }))

  // A secret from the page takes precedence until it is emptied.
  const current = () => store.data.secret || secret

  function wrongOf(body: string, headers: Record<string, string>): string | null {
    if (current() === '') return 'no secret was entered here'
    try {
      new Webhook(current()).verify(body, headers)
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  return {
    list: () => store.data.caught,
    secret: current,
    async add(at: string, body: string, headers: Record<string, string>): Promise<void> {
      const id = headers['webhook-id'] ?? ''
      const caught = {
        at,
        caught_at: new Date(now()).toISOString(),
        id,
        type: typeOf(body),
        wrong: wrongOf(body, headers),
        seen_before: store.data.caught.some(one => one.id === id && one.at === at),
        body
      }
      store.data.caught = [caught, ...store.data.caught].slice(0, MAX_KEPT)
      await store.save()
    },
    async setSecret(given: string): Promise<void> {
      store.data.secret = given
      await store.save()
    },
    async clear(): Promise<void> {
      store.data.caught = []
      await store.save()
    }
  }
}

export type Catcher = Awaited<ReturnType<typeof openCatcher>>

function typeOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body)
    const type: unknown = typeof parsed === 'object' && parsed !== null && 'type' in parsed ? parsed.type : undefined
    return typeof type === 'string' ? type : 'unknown'
  } catch {
    return 'no JSON'
  }
}

/** Answers that the catcher can give instead of 200. */
export const FAULTS = {
  error500: '500: an error',
  busy: '429 with Retry-After: 20 s',
  html: '502 in HTML',
  redirect: 'A redirect',
  half: 'Half a body',
  silence: 'Silence',
  gone: '410: wants no more'
} as const
export type Fault = keyof typeof FAULTS

export const isFault = (text: unknown): text is Fault => typeof text === 'string' && Object.hasOwn(FAULTS, text)

export function answerWrongly(reply: FastifyReply, fault: Fault): unknown {
  switch (fault) {
    case 'error500':
      return reply.code(500).send({ error: 'a fault that was asked for' })
    case 'busy':
      return reply.code(429).header('retry-after', '20').send({ error: 'a fault that was asked for' })
    case 'html':
      return reply.code(502).type('text/html').send('<html><body><h1>502 Bad Gateway</h1></body></html>')
    case 'redirect':
      return reply.code(302).header('location', '/hooks').send()
    case 'gone':
      return reply.code(410).send({ error: 'no more' })
    case 'half':
      reply.hijack()
      reply.raw.writeHead(200, { 'content-length': '1000' })
      reply.raw.write('half of it')
      setTimeout(() => reply.raw.destroy(), 50).unref()
      return reply
    case 'silence':
      // The client gives up at its timeout, and the stand-in's end does not wait for it.
      reply.hijack()
      return reply
  }
}
