import { PUBLIC_RESOURCES, refuse, routes, type Change } from '@netlet/contract'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { UserActor } from '../actor.ts'
import type { FeedEvent } from '../change-feed.ts'
import type { AppContext } from '../context.ts'
import { SAFE_HEADERS } from './app.ts'
import { SENT, type Authenticator, type Mount } from './mount.ts'

export const EVENT_STREAM = 'text/event-stream; charset=utf-8'

/** Streams per process. Each costs a socket, and a query at each heartbeat. */
const MOST_STREAMS = 5000
const MOST_STREAMS_OF_A_USER = 10
/** Bytes that may wait for a slow reader. */
const MOST_WAITING_BYTES = 64 * 1024
const HEARTBEAT_MS = 25_000
/** How long a browser waits before it reconnects. */
const RETRY_MS = 3000
/** Tells the page to reload everything, because events may have been missed. */
const RESET = 'event: reset\ndata: {}\n\n'

export type EventStreamOptions = {
  app: FastifyInstance
  authenticator: Pick<Authenticator, 'authenticate'>
  /** Milliseconds between two heartbeats. Each one checks the session again. */
  heartbeatMs?: number
  mostStreams?: number
}

/**
 * The change feed as server-sent events. A stream ends with its session, with the server, or when its reader is too
 * slow. A browser then reconnects and resumes after its last event.
 */
export function eventStreamRoutes(
  mount: Mount,
  ctx: Pick<AppContext, 'changes' | 'log'>,
  { app, authenticator, heartbeatMs = HEARTBEAT_MS, mostStreams = MOST_STREAMS }: EventStreamOptions
): void {
  const open = new Map<ServerResponse, number>()
  let closing = false

  app.addHook('preClose', async () => {
    closing = true
    for (const stream of open.keys()) stream.destroy()
  })

  mount(routes.changes.feed, async ({ caller, request, reply }) => {
    if (closing) return refuse('unavailable')
    // HEAD does not keep a stream open.
    if (request.method === 'HEAD') {
      await reply.type(EVENT_STREAM).header('cache-control', 'no-store').send()
      return SENT
    }
    // An administrator who views the shop as a user does not use up that user's streams.
    const owner = caller.impersonator?.id ?? caller.id
    const theirs = [...open.values()].filter(id => id === owner).length
    if (theirs >= MOST_STREAMS_OF_A_USER || open.size >= mostStreams) return refuse('too_many')
    const stream = startStream(reply)
    // The client left during the authentication.
    if (stream.destroyed) return SENT
    open.set(stream, owner)
    stream.once('close', () => open.delete(stream))
    follow(ctx, stream, { caller, request, heartbeatMs, authenticate: () => authenticator.authenticate(request) })
    return SENT
  })
}

function startStream(reply: FastifyReply): ServerResponse {
  reply.hijack()
  const headers = {
    ...reply.getHeaders(),
    ...SAFE_HEADERS,
    'content-type': EVENT_STREAM,
    'cache-control': 'no-store',
    // nginx would buffer the events.
    'x-accel-buffering': 'no'
  }
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.raw.setHeader(name, value)
  reply.raw.flushHeaders()
  return reply.raw
}

type Following = {
  caller: UserActor
  request: FastifyRequest
  heartbeatMs: number
  authenticate: () => Promise<UserActor | null>
}

/** Writes the changes that the caller may see until the stream ends. */
function follow(ctx: Pick<AppContext, 'changes' | 'log'>, stream: ServerResponse, following: Following): void {
  const { request, heartbeatMs, authenticate } = following
  /** Null while the session cannot be looked up; then nothing is written. */
  let viewer: UserActor | null = following.caller
  let lastId: number | undefined

  const write = (text: string) => {
    if (stream.destroyed || stream.writableEnded) return
    if (stream.writableLength > MOST_WAITING_BYTES) stream.destroy()
    else if (text) stream.write(text)
  }
  const notify = (event: FeedEvent | null) => {
    if (!viewer) return
    if (!event) return write(RESET)
    lastId = event.id
    write(textOf(event, viewer))
  }

  const unsubscribe = ctx.changes.subscribe(notify)
  write(`retry: ${RETRY_MS}\n\n`)
  const resumeFrom = lastEventId(request)
  if (resumeFrom !== null) {
    const missed = ctx.changes.since(resumeFrom)
    const text = missed?.map(event => textOf(event, following.caller)).join('') ?? RESET
    // More at once would look like a slow reader.
    write(text.length <= MOST_WAITING_BYTES / 2 ? text : RESET)
    lastId = missed?.at(-1)?.id
  }

  async function beat(): Promise<void> {
    const before = viewer
    try {
      const now = await authenticate()
      if (!now || now.mustEnrol) return void stream.end()
      viewer = now
    } catch (error) {
      ctx.log.warn({ err: error }, 'the session of an event stream could not be looked at')
      viewer = null
    }
    if (!before && viewer) notify(null)
    // The id of events for others, so that a client that resumes from it does not start afresh.
    write(lastId === undefined || !viewer ? ':\n\n' : `:\nid: ${lastId}\n\n`)
    if (!stream.destroyed) timer = setTimeout(() => void beat(), heartbeatMs)
  }

  let timer = setTimeout(() => void beat(), heartbeatMs)
  const stop = () => {
    clearTimeout(timer)
    unsubscribe()
  }
  stream.once('finish', stop)
  stream.once('close', stop)
}

/** Empty if the event does not concern the caller. */
function textOf(event: FeedEvent, caller: UserActor): string {
  const changes = visibleTo(caller, event)
  return changes.length === 0 ? '' : `id: ${event.id}\nevent: change\ndata: ${JSON.stringify({ changes })}\n\n`
}

/** Administrators see every change, customers their own and, without an id, those of public resources. */
function visibleTo({ id: callerId, isSuperuser }: UserActor, { changes }: FeedEvent): Change[] {
  const visible = new Map<string, Change>()
  for (const { resource, id, userId, everyone } of changes) {
    const whole = isSuperuser || everyone || userId === callerId
    if (!whole && !PUBLIC_RESOURCES.has(resource)) continue
    const shown = whole && id !== undefined ? { resource, id } : { resource }
    visible.set(JSON.stringify(shown), shown)
  }
  return [...visible.values()]
}

/** Null for a first connection, NaN for an invalid id. */
function lastEventId({ headers }: FastifyRequest): number | null {
  const given = headers['last-event-id']
  if (given === undefined) return null
  return typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : NaN
}
