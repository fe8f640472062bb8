import type { FastifyInstance } from 'fastify'

/** Target sites for clients behind a proxy: the caller's address, and sites that always answer. */
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
