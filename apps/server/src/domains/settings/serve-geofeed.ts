import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppContext } from '../../infra/context.ts'
import { readSettings, savedAt } from './read.ts'

/** Seconds. Readers of geofeeds come about once a day. */
const FRESH_FOR = 300

/**
 * Sends the saved geofeed with an entity tag, the time of its save, and 304 for unchanged copies. HEAD replies the same
 * without a body.
 */
export async function serveGeofeed(ctx: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { geofeed } = await readSettings(ctx.db, ctx.secrets)
  const saved = await savedAt(ctx.db, 'geofeed')
  const text = geofeed.trim()
  const body = text === '' ? '' : `${text}\n`
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  reply.type('text/csv; charset=utf-8').header('cache-control', `public, max-age=${FRESH_FOR}`).header('etag', etag)
  if (saved) reply.header('last-modified', saved.toUTCString())
  if (isFresh(request, etag, saved)) return void reply.code(304).send()
  reply.send(body)
}

/** RFC 9110, 13.2.2: an entity tag takes precedence over the time. */
function isFresh({ headers }: FastifyRequest, etag: string, saved: Date | null): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined)
    return tags.trim() === '*' || tags.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
  const since = Date.parse(headers['if-modified-since'] ?? '')
  // The header has whole seconds.
  return saved !== null && !Number.isNaN(since) && Math.floor(saved.getTime() / 1000) * 1000 <= since
}
