import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { answerFault, breakOff, createFaults, GRAPHQL_FAULTS } from './graphql-routes.ts'

/** A day less a second, as on the platform. */
const LIFETIME = 86_399

const Body = z.object({
  grant_type: z.string().default(''),
  client_id: z.string().default(''),
  client_secret: z.string().default('')
})
const Control = z.object({
  /** Lifetime of future tokens, in seconds. */
  lifetime: z.number().int().min(1).max(LIFETIME).optional(),
  /** Ends all granted tokens now. */
  end: z.boolean().default(false),
  /** Is the app installed in this shop? If not, it gets no token. */
  installed: z.boolean().optional(),
  fault: z.object({ kind: z.enum(['none', ...GRAPHQL_FAULTS]), next: z.number().int().min(1).default(1) }).optional()
})

/** Access tokens for the app's key and secret (OAuth client credentials). Each expires. */
export function accessTokenRoutes(
  app: FastifyInstance,
  options: { apiKey: string; secrets: () => readonly string[]; accessToken: string; now: () => number }
) {
  const { apiKey, secrets, accessToken, now } = options
  const ends = new Map<string, number>()
  const faults = createFaults()
  let lifetime = LIFETIME
  let installed = true
  let given = 0

  app.post('/admin/oauth/access_token', async (request, reply) => {
    const kind = faults.next()
    if (kind && kind !== 'half' && kind !== 'lost') return answerFault(kind, request, reply)
    const body = Body.parse(request.body instanceof URLSearchParams ? Object.fromEntries(request.body) : request.body)
    const refuse = (status: number, error: string) => reply.code(status).send({ error })
    if (body.grant_type !== 'client_credentials') return refuse(400, 'unsupported_grant_type')
    if (body.client_id !== apiKey) return refuse(400, 'application_cannot_be_found')
    if (!secrets().some(secret => sameSecret(body.client_secret, secret))) return refuse(401, 'invalid_client')
    if (!installed) {
      const page = '<title>Oauth error app_not_installed: The app is not installed on this shop</title>'
      return reply.code(400).type('text/html').send(page)
    }
    const token = `shpat_${randomBytes(16).toString('hex')}`
    for (const [one, end] of ends) if (end <= now()) ends.delete(one)
    ends.set(token, now() + lifetime * 1000)
    given++
    const answer = { access_token: token, scope: 'write_products,write_orders', expires_in: lifetime }
    return kind ? breakOff(reply, kind === 'half' ? JSON.stringify(answer) : '') : answer
  })

  app.post('/sandbox/access_tokens', async request => {
    const { end, fault, ...set } = Control.parse(request.body)
    lifetime = set.lifetime ?? lifetime
    installed = set.installed ?? installed
    if (end) ends.clear()
    if (fault) faults.set(fault.kind === 'none' ? null : { kind: fault.kind, next: fault.next })
    return { lifetime, installed, given }
  })
  app.get('/sandbox/access_tokens', async () => ({ lifetime, installed, given }))

  /** Is it the permanent token, or a granted one that has not expired? */
  return (token: string): boolean => sameSecret(token, accessToken) || (ends.get(token) ?? 0) > now()
}

function sameSecret(one: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}
