import type { FastifyInstance } from 'fastify'
import type { Log } from '../log.ts'

/** Probes and scrapes, several times a minute. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics', '/metrics/shop'])

/** Logs each request when its reply has ended: no path, query, header or body, which may hold names and secrets. */
export function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    if (PROBES.has(route)) return
    const ms = Math.round(reply.elapsedTime * 10) / 10
    log.info({ method: request.method, route, status: reply.statusCode, ms, request: request.id }, 'request')
  })
}
