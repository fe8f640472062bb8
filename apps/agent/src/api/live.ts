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
import { sendRefusal } from './send-refusal.ts'
import { metricsText } from './metrics.ts'
import {
  agentExitCheck,
  type AgentExitReply,
  type Dialled,
  type ExitTarget,
  type ExitVerdict
} from '@netlet/contract/exit-check'
import { formatAddress, parsePrefix, type Prefix } from '../net/ip.ts'
import { firstOutside } from '../state/commands.ts'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'

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
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(metricsText(control.metrics()))
  )

  app.get('/api/connections', async (request, reply) => {
    const query = connectionsQuery.safeParse(request.query)
    if (!query.success) return sendRefusal(reply, { reason: 'badBody' })
    const { user = null, limit } = query.data
    return { ...(await control.listConnections(user, limit)), ...control.refusals() } satisfies AgentConnections
  })

  app.delete('/api/connections', async (request, reply) => {
    const query = endQuery.safeParse(request.query)
    if (!query.success) return sendRefusal(reply, { reason: 'badBody' })
    return { ended: await control.endConnections(query.data.user, query.data.id ?? null) } satisfies AgentEnded
  })

  app.get('/api/log/follow', (request, reply) => {
    const query = followQuery.safeParse(request.query)
    if (!query.success) return sendRefusal(reply, { reason: 'badBody' })
    const { after, limit, ...filter } = query.data
    return reply.send(control.follower.read(after, filter, limit) satisfies AgentLogLines)
  })

  app.get('/api/alarms', (): AgentAlarms => ({ alarms: control.alarms.list() }))
}

/** Longer than the 3 seconds after which the kernel gives up on a silent neighbour. */
const WAIT_MS = 5000

/** A random address of a range. In IPv6 never ::0 (the routers') or ::1 (the proxy's own) of a /64. */
export function anyAddress({ family, first, last }: Prefix): string {
  const size = last - first + 1n
  const drawn = first + (BigInt(`0x${randomBytes(16).toString('hex')}`) % size)
  const low = drawn & 0xffff_ffff_ffff_ffffn
  return formatAddress(family, family === 6 && low < 2n && drawn + 2n <= last ? drawn + 2n : drawn)
}

/**
 * Connects to each target from a random address of the range and, to compare, from the server's own. This shows whether
 * answers reach addresses that no interface has: by a route to this server, or because something answers neighbour requests.
 */
export async function checkExit(prefix: Prefix, targets: readonly ExitTarget[]): Promise<AgentExitReply> {
  const from = anyAddress(prefix)
  const results = await Promise.all(
    targets.map(async ({ host, port }) => {
      const where = { host, port, family: prefix.family }
      const [found, own] = await Promise.all([dialled({ ...where, localAddress: from }), dialled(where)])
      return { target: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, found, own }
    })
  )
  return { prefix: prefix.text, address: from, verdict: verdictOf(results), results }
}

const answers = (found: Dialled): boolean => found === 'connected' || found === 'refused'

/** The overall verdict. Any answer, even a refusal, proves that the range works. */
export function verdictOf(results: AgentExitReply['results']): ExitVerdict {
  if (results.some(({ found }) => answers(found))) return 'reachable'
  if (results.some(({ found }) => found === 'no_egress')) return 'no_egress'
  return results.some(({ own }) => answers(own)) ? 'no_neighbour' : 'no_network'
}

function dialled(where: { host: string; port: number; family: number; localAddress?: string }): Promise<Dialled> {
  return new Promise(resolve => {
    const socket = connect({ ...where, autoSelectFamily: false })
    const end = (found: Dialled): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(found)
    }
    const timer = setTimeout(() => end('silent'), WAIT_MS)
    socket.once('connect', () => end('connected'))
    socket.on('error', (error: NodeJS.ErrnoException) => end(byCode[error.code ?? ''] ?? 'unreachable'))
  })
}

const byCode: Record<string, Dialled> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'refused',
  ETIMEDOUT: 'silent',
  EADDRNOTAVAIL: 'no_egress',
  ENOTFOUND: 'not_found',
  EAI_AGAIN: 'not_found',
  ENODATA: 'not_found'
}
