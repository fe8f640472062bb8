import { agentUserName } from '@netlet/contract/agent'
import {
  type AgentAlarms,
  type AgentConnections,
  type AgentEnded,
  type AgentLogLines,
  MOST_LIVE_ROWS
} from '@netlet/contract/agent-live'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Control } from './control.ts'
import { metricsText } from './metrics.ts'
import { sendRefusal } from './replies.ts'
import { type AgentExitReply, agentExitCheck } from '@netlet/contract/agent-exit-check'
import { checkExit } from '../net/exit-check.ts'
import { parsePrefix } from '../net/ip.ts'
import { firstOutside } from '../state/commands.ts'

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

const limit = z.coerce.number().int().min(1).max(MOST_LIVE_ROWS).default(MOST_LIVE_ROWS)
const word = z.string().min(1).max(100)
const connectionsQuery = z.object({ user: agentUserName.optional(), limit })
const endQuery = z.object({ user: agentUserName, id: word.optional() })
const followQuery = z.object({
  after: z.coerce.number().int().nonnegative().default(0),
  user: word.optional(),
  address: word.optional(),
  status: z
    .string()
    .regex(/^\d{1,3}$/)
    .optional(),
  limit
})

/** Calls that show the present: figures, open connections, log lines, alarms. */
export function liveRoutes(app: FastifyInstance, control: Control): void {
  app.get('/metrics', (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(metricsText(control.measured()))
  )

  app.get('/api/connections', async (request, reply) => {
    const query = connectionsQuery.safeParse(request.query)
    if (!query.success) return sendRefusal(reply, { reason: 'badBody' })
    const { user = null, limit } = query.data
    return { ...(await control.look(user, limit)), ...control.refusals() } satisfies AgentConnections
  })

  app.delete('/api/connections', async (request, reply) => {
    const query = endQuery.safeParse(request.query)
    if (!query.success) return sendRefusal(reply, { reason: 'badBody' })
    return { ended: await control.end(query.data.user, query.data.id ?? null) } satisfies AgentEnded
  })

  app.get('/api/log/follow', (request, reply) => {
    const query = followQuery.safeParse(request.query)
    if (!query.success) return sendRefusal(reply, { reason: 'badBody' })
    const { after, limit, ...filter } = query.data
    return reply.send(control.follower.read(after, filter, limit) satisfies AgentLogLines)
  })

  app.get('/api/alarms', (): AgentAlarms => ({ alarms: control.alarms.list() }))
}
