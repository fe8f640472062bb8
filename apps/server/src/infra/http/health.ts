import { timingSafeEqual } from 'node:crypto'
import { sql } from '../db/drizzle.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { EVENT_STREAM } from './event-stream.ts'
import { hashToken } from '../secrets.ts'
import type { AppContext } from '../context.ts'

/** Liveness, readiness and metrics. Their readers are programs, so the replies have no envelope. */
export function healthRoutes(app: FastifyInstance, ctx: Pick<AppContext, 'config' | 'db' | 'jobs'>): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'netlet_http_request_seconds',
    help: 'Time to answer, by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry]
  })
  app.addHook('onResponse', async (request, reply) => {
    // An event stream lasts as long as the page is open.
    if (reply.raw.getHeader('content-type') === EVENT_STREAM) return
    const route = request.routeOptions.url ?? 'unknown'
    durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
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
