import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import { WebSocketServer, type WebSocket } from 'ws'
import { z } from 'zod'
import { BOT_USER, CHANNELS, GUILD } from './rooms.ts'

/** A gateway message; `s` numbers the dispatches of a session. */
type Packet = { op: number; d?: unknown; s?: number; t?: string }

/** Packets kept for a session that resumes. After missing more it has to begin a new one. */
const REPLAYED = 1000

type Session = {
  id: string
  seq: number
  sent: Packet[]
  socket: WebSocket | null
  startedAt: string
}

/** Faults in the gateway's protocol; the last three replace the upgrade's answer. */
export const GATEWAY_KINDS = ['silent', 'garbage', 'half', 'broken', 'html', 'error500', 'throttled'] as const
const ANSWERS: Partial<Record<(typeof GATEWAY_KINDS)[number], string>> = {
  html: 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html><title>Something is in the way</title></html>',
  error500: 'HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n\r\n',
  throttled: 'HTTP/1.1 429 Too Many Requests\r\nretry-after: 60\r\nconnection: close\r\n\r\n'
}

export type GatewayFaults = {
  /** Heartbeats are not acknowledged. */
  mute: boolean
  /** Fault for the next connections instead of a hello. */
  next: { kind: (typeof GATEWAY_KINDS)[number]; count: number } | null
  refuseIntents: boolean
  /** Sessions cannot be resumed. */
  forgetful: boolean
  heartbeatMs: number
}

const Incoming = z.object({ op: z.number(), d: z.unknown() })
const Identify = z.object({ token: z.string(), intents: z.number() })
const Resume = z.object({ token: z.string(), session_id: z.string(), seq: z.number().nullable() })

/**
 * The platform's gateway for bots: hello, identify, heartbeats, resume with replay, invalid sessions.
 * @param token the bot's; it may change while the gateway runs
 */
export function createGateway({ server, base, token }: { server: Server; base: () => string; token: () => string }) {
  const sockets = new WebSocketServer({ noServer: true })
  const sessions = new Map<string, Session>()
  const counts = { connections: 0, identified: 0, resumed: 0 }
  const faults: GatewayFaults = {
    mute: false,
    next: null,
    refuseIntents: false,
    forgetful: false,
    heartbeatMs: 41_250
  }

  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    const answer = faults.next && faults.next.count > 0 ? ANSWERS[faults.next.kind] : undefined
    if (faults.next && answer !== undefined) {
      faults.next.count--
      socket.end(answer)
    } else if (new URL(request.url ?? '', 'http://sandbox').pathname.startsWith('/gateway'))
      sockets.handleUpgrade(request, socket, head, connected)
    else socket.destroy()
  })

  function connected(socket: WebSocket): void {
    counts.connections++
    socket.on('error', () => {})
    if (faults.next && faults.next.count > 0) {
      faults.next.count--
      if (faults.next.kind === 'garbage') socket.send('<html><title>Something is in the way</title></html>')
      if (faults.next.kind === 'half') socket.send('{"op":10,"d":{"heartbeat_int')
      // Violates the protocol: `d` is missing, which every client reads.
      if (faults.next.kind === 'broken') socket.send('{"op":10}')
      return
    }
    let session: Session | null = null
    const send = (packet: Packet) => socket.send(JSON.stringify(packet))
    send({ op: 10, d: { heartbeat_interval: faults.heartbeatMs } })
    socket.on('message', data => {
      const parsed = Incoming.safeParse(parse(Buffer.isBuffer(data) ? data.toString() : ''))
      if (!parsed.success) return socket.close(4002)
      const { op, d } = parsed.data
      if (op === 1 && !faults.mute) send({ op: 11 })
      if (op === 2) session = identify(socket, d)
      if (op === 6) session = resume(socket, d) ?? session
    })
    socket.on('close', code => {
      if (session?.socket !== socket) return
      session.socket = null
      // A client that closes normally does not resume.
      if (code === 1000 || code === 1001) sessions.delete(session.id)
    })
  }

  function identify(socket: WebSocket, d: unknown): Session | null {
    const asked = Identify.safeParse(d)
    if (!asked.success || asked.data.token !== token()) {
      socket.close(4004, 'Authentication failed.')
      return null
    }
    if (faults.refuseIntents) {
      socket.close(4014, 'Disallowed intent(s).')
      return null
    }
    counts.identified++
    const id = randomUUID()
    const session: Session = { id, seq: 0, sent: [], socket, startedAt: new Date().toISOString() }
    sessions.set(id, session)
    dispatch(session, 'READY', {
      v: 10,
      user: { ...BOT_USER, discriminator: '0', avatar: null },
      guilds: [{ id: GUILD.id, unavailable: true }],
      session_id: id,
      resume_gateway_url: gatewayUrl(),
      session_type: 'normal',
      application: { id: BOT_USER.id, flags: 0 }
    })
    dispatch(session, 'GUILD_CREATE', guild)
    return session
  }

  function resume(socket: WebSocket, d: unknown): Session | null {
    const asked = Resume.safeParse(d)
    if (!asked.success || asked.data.token !== token()) {
      socket.close(4004, 'Authentication failed.')
      return null
    }
    const seq = asked.data.seq ?? 0
    const session = faults.forgetful ? undefined : sessions.get(asked.data.session_id)
    if (!session || session.seq - seq > session.sent.length) {
      socket.send(JSON.stringify({ op: 9, d: false }))
      return null
    }
    counts.resumed++
    // A client may resume an invalid session on the same connection.
    if (session.socket !== socket) session.socket?.terminate()
    session.socket = socket
    for (const packet of session.sent) if ((packet.s ?? 0) > seq) socket.send(JSON.stringify(packet))
    dispatch(session, 'RESUMED', {})
    return session
  }

  function dispatch(session: Session, t: string, d: unknown): void {
    session.seq++
    const packet = { op: 0, t, d, s: session.seq }
    session.sent.push(packet)
    if (session.sent.length > REPLAYED) session.sent.shift()
    session.socket?.send(JSON.stringify(packet))
  }

  const gatewayUrl = () => `${base().replace(/^http/, 'ws')}/gateway`
  const live = () => [...sessions.values()].filter(session => session.socket !== null)

  return {
    faults,
    url: gatewayUrl,

    /** Sends to every session, also to those that may resume. */
    publish(t: string, d: unknown): void {
      for (const session of sessions.values()) dispatch(session, t, d)
    },

    connected: () => live().length > 0,

    state: () => ({
      ...counts,
      sessions: live().map(({ id, startedAt }) => ({ id, started_at: startedAt })),
      resumable: sessions.size - live().length
    }),

    /** Disturbs every connection. `drop` ends it without a close frame. */
    disturb(
      action: 'drop' | 'close' | 'reconnect' | 'invalid_session',
      { code = 4000, resumable = false } = {}
    ): number {
      const hit = live()
      for (const { socket } of hit) {
        if (action === 'drop') socket?.terminate()
        if (action === 'close') socket?.close(code)
        if (action === 'reconnect') socket?.send(JSON.stringify({ op: 7, d: null }))
        if (action === 'invalid_session') socket?.send(JSON.stringify({ op: 9, d: resumable }))
      }
      return hit.length
    },

    close(): void {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    }
  }
}

export type Gateway = ReturnType<typeof createGateway>

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const everyone = { id: GUILD.id, name: '@everyone', permissions: '0', position: 0, color: 0, hoist: false }

const guild = {
  id: GUILD.id,
  name: GUILD.name,
  icon: null,
  owner_id: '310000000000000001',
  preferred_locale: 'en-US',
  features: [],
  roles: [{ ...everyone, managed: false, mentionable: false, flags: 0 }],
  emojis: [],
  stickers: [],
  channels: CHANNELS.map(({ id, name }, position) => ({
    id,
    name,
    type: 0,
    position,
    permission_overwrites: [],
    parent_id: null,
    topic: null,
    nsfw: false
  })),
  threads: [],
  members: [],
  voice_states: [],
  presences: [],
  stage_instances: [],
  guild_scheduled_events: [],
  soundboard_sounds: [],
  member_count: 4,
  large: false,
  unavailable: false,
  joined_at: '2026-01-01T00:00:00.000Z'
}
