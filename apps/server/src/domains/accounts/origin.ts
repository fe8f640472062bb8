import type { FastifyRequest } from 'fastify'

/** The chat platform sends the browser here, so these come from another site; `state` and a cookie guard them. */
const FROM_OUTSIDE = new Set(['/api/auth/discord/redirect', '/api/auth/discord/bind_redirect'])

/**
 * Did a browser send this from our own pages? The Fetch Metadata header refuses other sites' pages, reads included:
 * logging out is one. Where a browser names the origin of a change, it has to be ours. Programs send neither header.
 */
export function fromOurOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const path = request.routeOptions.url ?? ''
  if (FROM_OUTSIDE.has(path)) return true
  if (path.startsWith('/api') && request.headers['sec-fetch-site'] === 'cross-site') return false
  const { origin } = request.headers
  if (origin === undefined || request.method === 'GET' || request.method === 'HEAD') return true
  if (!URL.canParse(origin)) return false
  // The host that the browser itself addressed: a shop may be reached by other names than PUBLIC_URL while it is set up.
  return origin === new URL(publicUrl).origin || new URL(origin).host === request.host
}
