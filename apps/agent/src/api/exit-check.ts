import { agentExitCheck, type AgentExitReply } from '@netlet/contract/agent-exit-check'
import type { FastifyInstance } from 'fastify'
import { checkExit } from '../net/exit-check.ts'
import { parsePrefix } from '../net/ip.ts'
import { firstOutside } from '../state/commands.ts'
import type { Control } from './control.ts'
import { sendRefusal } from './replies.ts'

/** Checks whether answers reach the addresses of a range; see `checkExit`. */
export function exitCheckRoutes(app: FastifyInstance, { store }: Control): void {
  app.post('/api/check-exit', async (request, reply) => {
    const body = agentExitCheck.safeParse(request.body)
    if (!body.success) return sendRefusal(reply, { reason: 'badBody' })
    const prefix = parsePrefix(body.data.prefix)
    if (prefix === null) return sendRefusal(reply, { reason: 'badPrefix', detail: body.data.prefix })
    const isOwn = await store.read(state => firstOutside([prefix], state.prefixes) === undefined)
    if (!isOwn) return sendRefusal(reply, { reason: 'outsidePrefixes', detail: prefix.text })
    return (await checkExit(prefix, body.data.targets)) satisfies AgentExitReply
  })
}
