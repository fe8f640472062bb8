import type { FastifyReply } from 'fastify'

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
