import type { Change } from '@netlet/contract'
import { Client } from 'pg'
import type { Database } from './db/client.ts'
import type { Log } from './log.ts'

/** A change, and which customer may hear of it; without one only administrators do. */
export type Published = Change & { userId?: number }

/** Changes that were told together, under the number that a browser resumes from. */
export type FeedEvent = { id: number; changes: Published[] }

export type ChangeFeed = {
  /** Tells every process of the shop, soon and together with others. Never waits and never fails: it is a hint. */
  publish(changes: Published[]): void
  /** Calls `listener` for each event of any process; null: events may have been missed. */
  subscribe(listener: (event: FeedEvent | null) => void): () => void
  /** The events after `id`, as far as they are remembered; null where some may be missing. */
  since(id: number): FeedEvent[] | null
  stop(): Promise<void>
}

const CHANNEL = 'netlet_changes'
/** Publishing a burst of commands at once costs one notification for each of these times (milliseconds). */
const GATHER_MS = 50
const RECONNECT_MS = 1000
/** Events that are remembered for those who reconnect. */
const REMEMBERED = 1000
/** A notification holds at most 8,000 bytes. Of a burst that is larger only the resources are named. */
const MOST_BYTES = 7500

/**
 * The shop's change feed, over PostgreSQL's LISTEN and NOTIFY. A notification inside of a command's transaction would
 * make all commits of the database wait for each other, so it is sent after the commit, and may be lost with a process:
 * whoever listens must also be right without it, only later.
 */
export async function openChangeFeed(options: { databaseUrl: string; db: Database; log: Log }): Promise<ChangeFeed> {
  const { db, log } = options
  const listeners = new Set<(event: FeedEvent | null) => void>()
  const remembered: FeedEvent[] = []
  let waiting: Published[] = []
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()
  let client: Client | undefined
  let reconnecting: NodeJS.Timeout | undefined
  let stopped = false

  const tell = (event: FeedEvent | null) => {
    for (const listener of listeners) listener(event)
  }

  function receive(payload: string | undefined): void {
    const [id, changes] = JSON.parse(payload ?? '') as [number, Published[]]
    const event = { id, changes }
    remembered.push(event)
    if (remembered.length > REMEMBERED) remembered.shift()
    tell(event)
  }

  async function listen(): Promise<void> {
    const opened = new Client({ connectionString: options.databaseUrl, application_name: 'netlet changes' })
    opened.on('error', () => undefined)
    opened.on('end', () => {
      if (stopped || client !== opened) return
      client = undefined
      reconnect()
    })
    opened.on('notification', ({ payload }) => receive(payload))
    await opened.connect()
    await opened.query(`listen ${CHANNEL}`)
    client = opened
  }

  /** What was told meanwhile is gone: nothing that was remembered leads up to what comes now. */
  function restart(): void {
    remembered.length = 0
    tell(null)
  }

  function reconnect(): void {
    reconnecting = setTimeout(() => {
      listen().then(restart, () => {
        if (!stopped) reconnect()
      })
    }, RECONNECT_MS)
    reconnecting.unref()
  }

  async function send(changes: Published[]): Promise<void> {
    try {
      await db.$client.query(`select pg_notify('${CHANNEL}', '[' || nextval('change_event_id') || ',' || $1 || ']')`, [
        encode(changes)
      ])
    } catch (error) {
      log.warn({ err: error }, 'changes were not published')
    }
  }

  const flush = () => {
    timer = undefined
    const changes = waiting
    waiting = []
    sending = sending.then(() => send(changes))
  }

  await listen()
  return {
    publish(changes) {
      if (changes.length === 0 || stopped) return
      waiting.push(...changes)
      timer ??= setTimeout(flush, GATHER_MS)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    since(id) {
      const at = remembered.findIndex(event => event.id === id)
      return at < 0 ? null : remembered.slice(at + 1)
    },
    async stop() {
      stopped = true
      clearTimeout(reconnecting)
      if (timer) {
        clearTimeout(timer)
        flush()
      }
      await sending
      await client?.end()
    }
  }
}

/** Each change once; of too many, one without an id for each resource and customer. */
function encode(changes: Published[]): string {
  const distinct = [...new Map(changes.map(change => [JSON.stringify(change), change])).values()]
  const text = JSON.stringify(distinct)
  if (Buffer.byteLength(text) <= MOST_BYTES) return text
  const rough = distinct.map(({ resource, userId }) => ({ resource, userId }))
  const fewer = JSON.stringify([...new Map(rough.map(change => [JSON.stringify(change), change])).values()])
  if (Buffer.byteLength(fewer) <= MOST_BYTES) return fewer
  return JSON.stringify([...new Set(distinct.map(change => change.resource))].map(resource => ({ resource })))
}
