import { agentClaim, CONSOLE_HEADER } from '@netlet/contract/agent'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Control } from './control.ts'
import { sendRefusal } from './replies.ts'

/** The call by which a console claims the agent. It must work for consoles that do not own it. */
const CLAIM = '/api/owner'

export function ownerRoutes(app: FastifyInstance, { owner, store }: Control): void {
  app.put(CLAIM, async (request, reply) => {
    const claim = agentClaim.safeParse(request.body)
    if (!claim.success) return sendRefusal(reply, { reason: 'badBody' })
    const claimed = await owner.claim(claim.data, () => store.figures.users === 0)
    if (claimed.ok) return { owner: claimed.owner }
    const detail = claimed.reason === 'foreignConsole' ? `${claimed.owner.name}, ${claimed.owner.id}` : undefined
    return sendRefusal(reply, { ...claimed, ...(detail === undefined ? {} : { detail }) })
  })
}

/** Refuses changes by a console that does not own the agent. Classic verbs name no console and need only the token. */
export function refuseOthers(
  { owner: { owner } }: Control,
  request: FastifyRequest,
  reply: FastifyReply
): FastifyReply | undefined {
  const { method } = request
  if (owner === null || method === 'GET' || method === 'HEAD') return undefined
  if (request.routeOptions.url === CLAIM) return undefined
  const [id, mark] = String(request.headers[CONSOLE_HEADER] ?? '').split(' ')
  if (!id && method === 'POST') return undefined
  const detail = `${owner.name}, ${owner.id}`
  if (id !== owner.id) return sendRefusal(reply, { reason: 'foreignConsole', detail, owner })
  if (mark !== undefined && mark !== owner.mark) return sendRefusal(reply, { reason: 'olderConsole', owner })
  return undefined
}
