import type { FastifyInstance } from 'fastify'

/** What a client behind a proxy asks: who am I, and do the sites answer? */
export function echoRoutes(app: FastifyInstance): void {
  app.get('/echo', async request => ({
    ip: request.socket.remoteAddress ?? null,
    method: request.method,
    host: request.headers.host ?? null,
    headers: request.headers
  }))
  for (const site of ['google', 'bing', 'amazon'])
    app.get(`/check/${site}`, async (_request, reply) => reply.code(204).send())
}
