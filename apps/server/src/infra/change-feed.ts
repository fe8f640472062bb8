import type { Change } from '@netlet/contract'
import { Socket } from 'node:net'
import { Client } from 'pg'
import type { Database } from './db/client.ts'
import type { Log } from './log.ts'

/**
 * A change, and which customer may see it; without one only administrators do. `everyone`: of too many customers
 * for one notification, so that each of them may be concerned.
 */
export type Published = Change & { userId?: number; everyone?: true }

/** Changes of one notification, under the number that a browser resumes from. */
export type FeedEvent = { id: number; changes: Published[] }

export type ChangeListener = (event: FeedEvent | null) => void

export type ChangeFeed = {
  /** Notifies every process of the shop, soon and together with others. Never waits and never fails: it is a hint. */
  publish(changes: Published[]): void
  /** Calls `listener` for each event of any process; null: events may have been missed. */
  subscribe(listener: ChangeListener): () => void
  /** The events after `id`, as far as they are remembered; null where some may be missing. */
  since(id: number): FeedEvent[] | null
  stop(): Promise<void>
}

export type ChangeFeedOptions = {
  databaseUrl: string
  db: Pick<Database, '$client'>
  log: Log
  /** How often the listening connection is asked whether it still lives, and how long it may take to answer (ms). */
  probe?: { everyMs: number; answerMs: number }
}

const CHANNEL = 'netlet_changes'
/** Publishing a burst of commands at once costs one notification for each of these times (milliseconds). */
const GATHER_MS = 50
const RETRY_MS = 1000
/** Events that are remembered for those who reconnect. */
const REMEMBERED = 1000
/** Changes that wait while the database is away; of more only the resources are kept. */
const MOST_WAITING = 1000
/** A notification holds at most 8,000 bytes. Of a burst that is larger only the resources are named. */
const MOST_BYTES = 7500
const PROBE = { everyMs: 30_000, answerMs: 10_000 }

/**
 * The shop's change feed, over PostgreSQL's LISTEN and NOTIFY. A notification inside of a command's transaction would
 * make all commits of the database wait for each other, so it is sent after the commit, and may be lost with a process:
 * whoever listens must also be right without it, only later.
 */
export async function openChangeFeed(options: ChangeFeedOptions): Promise<ChangeFeed> {
  const { log } = options
  const listeners = new Set<ChangeListener>()
  const remembered: FeedEvent[] = []
  let stopped = false

  function notify(event: FeedEvent | null): void {
    for (const listener of listeners) {
      try {
        listener(event)
      } catch (error) {
        log.error({ err: error }, 'a listener of the change feed failed')
      }
    }
  }

  /** What came before does not lead up to what comes next: something between them is missing. */
  function invalidate(): void {
    remembered.length = 0
    notify(null)
  }

  function receive(payload: string | undefined): void {
    const event = decode(payload)
    if (!event) {
      log.warn('a notification of the change feed cannot be read')
      return invalidate()
    }
    remembered.push(event)
    if (remembered.length > REMEMBERED) remembered.shift()
    notify(event)
  }

  let connection: Connection | undefined
  let reconnecting: NodeJS.Timeout | undefined
  let opening: Promise<void> | undefined

  async function listen(): Promise<void> {
    const opened = await connect(options, receive, () => {
      if (stopped || connection !== opened) return
      connection = undefined
      log.warn('the change feed has lost its connection')
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
    log.info('the change feed is connected again')
    invalidate()
  }

  function reconnect(): void {
    reconnecting = setTimeout(() => {
      opening = listenAgain()
    }, RETRY_MS)
    reconnecting.unref()
  }

  await listen()
  const sender = createSender(options)
  return {
    publish(changes) {
      if (!stopped) sender.send(changes)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    since(id) {
      const at = remembered.findLastIndex(event => event.id === id)
      return at < 0 ? null : remembered.slice(at + 1)
    },
    async stop() {
      if (stopped) return
      stopped = true
      clearTimeout(reconnecting)
      await sender.stop()
      await opening
      connection?.end()
    }
  }
}

type Connection = { end(): void }

/** Listens on a connection of its own. `lost` is called once, when it has ended by itself or does not answer any more. */
async function connect(
  { databaseUrl, probe = PROBE }: ChangeFeedOptions,
  receive: (payload: string | undefined) => void,
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
  // The promises below report what is wrong, or the end that follows.
  client.on('error', () => undefined)
  client.on('notification', ({ payload }) => receive(payload))
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
  } catch (error) {
    socket.destroy()
    throw error
  }
  // A connection whose other side vanished without a word looks like one on which nothing happens.
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

/** Gathers changes and sends them, one notification at a time; what cannot be sent waits for the database. */
function createSender({ db, log }: ChangeFeedOptions) {
  let waiting = new Map<string, Published>()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let stopped = false

  function keep(changes: Iterable<Published>): void {
    for (const change of changes) waiting.set(JSON.stringify(change), change)
    if (waiting.size <= MOST_WAITING) return
    const fewer = resourcesOf([...waiting.values()])
    waiting = new Map(fewer.map(change => [JSON.stringify(change), change]))
  }

  function sendLater(milliseconds: number): void {
    if (sending || stopped) return
    timer ??= setTimeout(() => {
      timer = undefined
      sending = sendThenMore()
    }, milliseconds)
  }

  async function sendThenMore(): Promise<void> {
    const sent = await sendWaiting()
    sending = undefined
    if (waiting.size > 0) sendLater(sent ? GATHER_MS : RETRY_MS)
  }

  async function sendWaiting(): Promise<boolean> {
    const changes = [...waiting.values()]
    waiting = new Map()
    if (changes.length === 0) return true
    try {
      const text = `select pg_notify('${CHANNEL}', '[' || nextval('change_event_id') || ',' || $1 || ']')`
      await db.$client.query(text, [encode(changes)])
      return true
    } catch (error) {
      log.warn({ err: error }, 'changes could not be published yet')
      keep(changes)
      return false
    }
  }

  return {
    send(changes: Published[]): void {
      if (changes.length === 0) return
      keep(changes)
      sendLater(GATHER_MS)
    },
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await sending
      await sendWaiting()
    }
  }
}

function decode(payload: string | undefined): FeedEvent | null {
  try {
    const [id, changes] = JSON.parse(payload ?? '') as [unknown, unknown]
    return Number.isSafeInteger(id) && Array.isArray(changes) ? { id: id as number, changes } : null
  } catch {
    return null
  }
}

/** Fits any number of changes into one notification. */
function encode(changes: Published[]): string {
  const text = JSON.stringify(changes)
  return Buffer.byteLength(text) <= MOST_BYTES ? text : JSON.stringify(resourcesOf(changes))
}

/** One change without an id for each resource, for everyone where customers were among those who may see it. */
function resourcesOf(changes: Published[]): Published[] {
  const forEveryone = new Map<Published['resource'], boolean>()
  for (const { resource, userId, everyone } of changes) {
    const concerned = forEveryone.get(resource) === true || everyone === true || userId !== undefined
    forEveryone.set(resource, concerned)
  }
  return [...forEveryone].map(([resource, everyone]) => (everyone ? { resource, everyone } : { resource }))
}
