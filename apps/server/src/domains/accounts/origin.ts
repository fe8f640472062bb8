import type { FastifyRequest } from 'fastify'

/** The chat platform redirects the browser here from another site; `state` and a cookie guard these. */
const FROM_OUTSIDE = new Set(['/api/auth/discord/redirect', '/api/auth/discord/bind_redirect'])

/**
 * Did a page of ours send this? Fetch Metadata refuses other sites' pages, including reads: logging out is one. An
 * Origin header must be ours. Programs send neither header.
 */
export function fromOurOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const path = request.routeOptions.url ?? ''
  if (FROM_OUTSIDE.has(path)) return true
  if (path.startsWith('/api') && request.headers['sec-fetch-site'] === 'cross-site') return false
  const { origin } = request.headers
  if (origin === undefined || request.method === 'GET' || request.method === 'HEAD') return true
  if (!URL.canParse(origin)) return false
  // The browser's own host: during setup a shop may have other names than PUBLIC_URL.
  return origin === new URL(publicUrl).origin || new URL(origin).host === request.host
}
