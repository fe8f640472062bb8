import { once } from 'node:events'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'

const KINDS = ['none', 'error500', 'throttled', 'html', 'half', 'timeout', 'lost', 'unauthorized', 'forbidden'] as const
/** The fault for the next `next` calls whose path contains `path`. */
type ApiFault = { kind: Exclude<(typeof KINDS)[number], 'none'>; next: number; path: string; retry_after: number }

export const ApiFaultBody = z.object({
  kind: z.enum(KINDS),
  next: z.number().int().min(1).max(1000).default(1),
  /** A part of the path, such as `oauth2/token` or `gateway/bot`. */
  path: z.string().default(''),
  /** Seconds in the answer `throttled`. */
  retry_after: z.number().int().min(1).default(60)
})

/** Makes the platform's API fail on request, for bots and sign-in. */
export function apiFaults(app: FastifyInstance) {
  let fault: ApiFault | null = null

  app.addHook('onRequest', async (request, reply) => {
    const path = request.url
    if (!fault || fault.next === 0 || !/^\/api\/(v10|oauth2)\//.test(path) || !path.includes(fault.path)) return
    fault.next--
    await answer(fault, request, reply)
    return reply
  })

  return {
    set({ kind, ...more }: z.infer<typeof ApiFaultBody>): void {
      fault = kind === 'none' ? null : { kind, ...more }
    }
  }
}

async function answer({ kind, retry_after }: ApiFault, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (kind === 'error500') void reply.code(500).send({ message: '500: Internal Server Error', code: 0 })
  if (kind === 'unauthorized') void reply.code(401).send({ message: '401: Unauthorized', code: 0 })
  if (kind === 'forbidden') void reply.code(403).send({ message: 'Missing Access', code: 50001 })
  if (kind === 'html') void reply.type('text/html').send('<html><title>Something is in the way</title></html>')
  if (kind === 'throttled')
    void reply
      .code(429)
      .header('retry-after', String(retry_after))
      .send({ message: 'You are being rate limited.', retry_after, global: false })
  if (kind === 'half') {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    reply.raw.write('{"id": "3100')
    reply.raw.socket?.end()
  }
  if (kind === 'lost') {
    reply.hijack()
    reply.raw.socket?.destroy()
  }
  if (kind === 'timeout') {
    // Silent until the client gives up, or the stand-in closes its connections.
    reply.hijack()
    await once(request.raw.socket, 'close')
  }
}
