import { timingSafeEqual } from 'node:crypto'
import { sql } from '../db/drizzle.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EVENT_STREAM } from './event-stream.ts'
import { processMetrics, requestSeconds } from '../metrics.ts'
import { hashToken } from '../secrets.ts'
import type { AppContext } from '../context.ts'

/**
 * Liveness, readiness and metrics. Their readers are programs, so the replies have no envelope.
 * @param shop the figures of the whole shop, beside those of this process
 */
export function healthRoutes(
  app: FastifyInstance,
  ctx: Pick<AppContext, 'config' | 'db' | 'jobs'>,
  shop: () => Promise<{ type: string; text: string }>
): void {
  const registry = processMetrics(ctx.db)
  app.addHook('onResponse', async (request, reply) => {
    // An event stream lasts as long as the page is open.
    if (reply.raw.getHeader('content-type') === EVENT_STREAM) return
    const route = request.routeOptions.url ?? 'unknown'
    requestSeconds.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const database = await takesWrites(ctx.db)
    const jobs = database && (await ctx.jobs.healthy())
    return reply.code(database && jobs ? 200 : 503).send({ database, jobs })
  })
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request, ctx.config.metricsToken)) return reply.code(404).send()
    return reply.type(registry.contentType).send(await registry.metrics())
  })
  app.get('/metrics/shop', async (request, reply) => {
    if (!mayRead(request, ctx.config.metricsToken)) return reply.code(404).send()
    const { type, text } = await shop()
    return reply.type(type).send(text)
  })
}

/** During a failover a database answers reads before it takes writes. A ready shop needs both. */
async function takesWrites(db: AppContext['db']): Promise<boolean> {
  try {
    const { rows } = await db.execute<{ read_only: boolean }>(
      sql`select pg_is_in_recovery() or current_setting('transaction_read_only')::bool as read_only`
    )
    return rows[0]?.read_only === false
  } catch {
    return false
  }
}

/** From this machine or with the token. Behind a proxy every client looks local, so then only the token counts. */
function mayRead(request: FastifyRequest, token: string | undefined): boolean {
  const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  if (token) return given !== undefined && timingSafeEqual(hashToken(given), hashToken(token))
  const isPassedOn = PROXY_HEADERS.some(name => request.headers[name] !== undefined)
  return !isPassedOn && /^(127\.|::1$|::ffff:127\.)/.test(request.socket.remoteAddress ?? '')
}

/** Every proxy adds at least one of these, or can be configured to. */
const PROXY_HEADERS = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']
