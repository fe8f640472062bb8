import { refuse } from '@netlet/contract'
import { mayDo } from '../actor.ts'
import type { DashboardHandler } from '@pg-boss/dashboard/handler'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createHash } from 'node:crypto'
import type { AppContext } from '../context.ts'
import { sendRefusal } from './app.ts'
import type { Authenticator } from './mount.ts'

const BASE = '/task-monitor'
/** A job's page shows personal data, which our page of dead letters hides. The monitor ignores a path's case. */
const PAYLOAD = /\/jobs\/+[^/]+/i
/** Its pages load fonts from a third party, which would see their readers. They get our empty style sheet. */
const FONTS = /https:\/\/fonts\.(?:googleapis|gstatic)\.com[^"'`\s\\]*/g
const NO_FONTS = `${BASE}/fonts.css`
/** Other parameters show columns of the payload or search in it. */
const QUERY = new Set(['db', 'dir', 'page', 'queue', 'queues', 'sort', 'state', 'status', 'type', 'w', 'minRetries'])

/** The job queue's own monitor, for administrators. Read-only: changes use our own routes, which are audited. */
export function taskMonitorRoutes(
  app: FastifyInstance,
  ctx: Pick<AppContext, 'config'>,
  authenticator: Pick<Authenticator, 'authenticate' | 'fromOurOrigin'>
): void {
  let opened: Promise<DashboardHandler> | undefined
  const open = async (): Promise<DashboardHandler> => {
    // The module reads this when it loads.
    process.env['PGBOSS_DASHBOARD_READ_ONLY'] = '1'
    const { createDashboardHandler } = await import('@pg-boss/dashboard/handler')
    return createDashboardHandler({ databases: [{ url: ctx.config.sessionUrl, name: 'jobs' }], basePath: BASE })
  }
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!authenticator.fromOurOrigin(request)) return sendRefusal(reply, refuse('bad_origin'))
    const caller = await authenticator.authenticate(request)
    if (!caller) return sendRefusal(reply, refuse('unauthorized'))
    if (!caller.isSuperuser || caller.apiKey) return sendRefusal(reply, refuse('forbidden'))
    if (!mayDo(caller, 'tasks.view')) return sendRefusal(reply, refuse('role_not_allowed'))
    const url = askedOf(request.url, ctx.config.publicUrl)
    if (!url) return sendRefusal(reply, refuse('not_found'))
    opened ??= open()
    const handle = await opened
    // The monitor gets neither the session's cookie nor other headers of the caller.
    const given = await handle(new Request(url, { headers: { accept: '*/*' } }))
    return send(reply, given)
  }
  app.get(BASE, answer)
  // The data of its first page, for navigation within the monitor.
  app.get(`${BASE}.data`, answer)
  app.get(NO_FONTS, (_request, reply) => reply.type('text/css').send(''))
  app.get(`${BASE}/*`, answer)
  app.addHook('onClose', async () => {
    await (await opened)?.close()
  })
}

/** The address to request from the monitor; null if it would show a payload. */
function askedOf(path: string, publicUrl: string): URL | null {
  const url = new URL(path, publicUrl)
  let decoded: string
  try {
    decoded = decodeURIComponent(url.pathname)
  } catch {
    return null
  }
  // Checks the path as the monitor reads it, and decoded once more.
  const inside = [url.pathname, decoded].every(
    one => one === BASE || one === `${BASE}.data` || one.startsWith(`${BASE}/`)
  )
  if (!inside || decoded.includes('\\') || PAYLOAD.test(url.pathname) || PAYLOAD.test(decoded)) return null
  for (const [name, value] of new URLSearchParams(url.searchParams))
    if (!mayAsk(url.pathname, name, value)) url.searchParams.delete(name)
  return url
}

/** Its pages load the routes of their links from the manifest, which contains no data. */
const mayAsk = (path: string, name: string, value: string): boolean =>
  path === `${BASE}/__manifest`
    ? ['p', 'paths', 'version'].includes(name) && /^[\w./,-]*$/.test(value)
    : QUERY.has(name) && /^[\w.,-]*$/.test(value)

async function send(reply: FastifyReply, given: Response): Promise<FastifyReply> {
  const type = given.headers.get('content-type') ?? 'application/octet-stream'
  const location = given.headers.get('location')
  reply.code(given.status).type(type).header('cache-control', 'no-store')
  if (location) reply.header('location', location)
  // Tells a page of an older version to reload.
  const reload = given.headers.get('x-remix-reload-document')
  if (reload) reply.header('x-remix-reload-document', reload)
  if (!/^(?:text\/html|(?:text|application)\/javascript)/.test(type))
    return reply.send(Buffer.from(await given.arrayBuffer()))
  const text = (await given.text()).replaceAll(FONTS, NO_FONTS)
  if (!type.startsWith('text/html')) return reply.send(text)
  // The policy allows the inline scripts of the page by their hashes.
  const scripts = [...text.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)]
    .map(([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`)
    .join(' ')
  reply.header(
    'content-security-policy',
    `default-src 'self'; script-src 'self' ${scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'`
  )
  return reply.send(text)
}
