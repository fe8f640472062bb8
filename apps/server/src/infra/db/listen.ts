import { Socket } from 'node:net'
import { Client } from 'pg'
import type { Log } from '../log.ts'

/** How often the connection is probed, and how long an answer may take (ms). */
export type Probe = { everyMs: number; answerMs: number }

export type Listening = {
  /** PostgreSQL itself: a pooler in transaction mode passes on no notifications. */
  databaseUrl: string
  channel: string
  log: Log
  probe?: Probe | undefined
  receive: (payload: string | undefined) => void
  /** Called after each later connection: notifications may be missing. */
  missed: () => void
}

const RETRY_MS = 1000
const PROBE: Probe = { everyMs: 30_000, answerMs: 10_000 }

/**
 * Listens to a channel on a connection of its own, which is opened again when it is lost.
 * @throws if the first connection fails
 */
export async function keepListening(listening: Listening): Promise<{ stop(): Promise<void> }> {
  const { log, channel, missed } = listening
  let stopped = false
  let connection: Connection | undefined
  let reconnecting: NodeJS.Timeout | undefined
  let opening: Promise<void> | undefined

  async function listen(): Promise<void> {
    const opened = await connect(listening, () => {
      if (stopped || connection !== opened) return
      connection = undefined
      log.warn({ channel }, 'the connection for notifications was lost')
      reconnect()
    })
    connection = opened
  }

  async function listenAgain(): Promise<void> {
    try {
      await listen()
    } catch {
      if (!stopped) reconnect()
      return
    }
    if (stopped) return
    log.info({ channel }, 'the connection for notifications is back')
    missed()
  }

  function reconnect(): void {
    reconnecting = setTimeout(() => {
      opening = listenAgain()
    }, RETRY_MS)
    reconnecting.unref()
  }

  await listen()
  return {
    async stop() {
      if (stopped) return
      stopped = true
      clearTimeout(reconnecting)
      await opening
      connection?.end()
    }
  }
}

type Connection = { end(): void }

/** Calls `lost` once, when the connection ends or no longer answers. */
async function connect(
  { databaseUrl, channel, probe = PROBE, receive }: Listening,
  lost: () => void
): Promise<Connection> {
  const socket = new Socket()
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'netlet changes',
    stream: () => socket,
    keepAlive: true,
    connectionTimeoutMillis: probe.answerMs,
    query_timeout: probe.answerMs
  })
  // The promises below report the error.
  client.on('error', () => undefined)
  client.on('notification', ({ payload }) => receive(payload))
  try {
    await client.connect()
    await client.query(`listen ${client.escapeIdentifier(channel)}`)
  } catch (error) {
    socket.destroy()
    throw error
  }
  // A connection whose other side vanished silently looks like an idle one.
  let timer: NodeJS.Timeout
  const probeLater = () => {
    timer = setTimeout(() => {
      client.query('select 1').then(probeLater, () => socket.destroy())
    }, probe.everyMs)
    timer.unref()
  }
  probeLater()
  socket.once('close', () => {
    clearTimeout(timer)
    lost()
  })
  return {
    end() {
      clearTimeout(timer)
      socket.destroy()
    }
  }
}
