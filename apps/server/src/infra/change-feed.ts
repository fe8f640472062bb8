import type { Change } from '@netlet/contract'
import type { Database } from './db/client.ts'
import { keepListening, type Probe } from './db/listen.ts'
import type { Log } from './log.ts'

/**
 * A change, and the customer who may see it. Without a customer only administrators see it. `everyone`: it concerns too
 * many customers to list in one notification, so any customer may see it.
 */
export type Published = Change & { userId?: number; everyone?: true }

/** The changes of one notification. A browser resumes after its id. */
export type FeedEvent = { id: number; changes: Published[] }

export type ChangeListener = (event: FeedEvent | null) => void

export type ChangeFeed = {
  /** Notifies all processes of the shop, batched. Never waits or throws: a change is only a hint. */
  publish(changes: Published[]): void
  /** Calls `listener` for each event of any process, and with null if events may have been missed. */
  subscribe(listener: ChangeListener): () => void
  /** The remembered events after `id`; null if some may be missing. */
  since(id: number): FeedEvent[] | null
  stop(): Promise<void>
}

export type ChangeFeedOptions = {
  /** PostgreSQL itself, to listen. */
  databaseUrl: string
  db: Pick<Database, '$client'>
  log: Log
  probe?: Probe
}

const CHANNEL = 'netlet_changes'
/** How long changes are gathered, so that a burst of commands costs one notification (ms). */
const GATHER_MS = 50
const RETRY_MS = 1000
/** Events kept for clients that reconnect. */
const REMEMBERED = 1000
/** Changes kept while the database is away. Above this, only their resources are kept. */
const MOST_WAITING = 1000
/** PostgreSQL allows 8,000 bytes in a notification. A larger burst names only its resources. */
const MOST_BYTES = 7500

/**
 * The shop's change feed, over PostgreSQL's LISTEN and NOTIFY. A notification in a transaction would serialise all
 * commits, so we send it after the commit. A crash may lose it, so listeners must not depend on it.
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

  /** Forgets the remembered events, because some may be missing between them and the next one. */
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

  const listening = await keepListening({
    databaseUrl: options.databaseUrl,
    channel: CHANNEL,
    log,
    probe: options.probe,
    receive,
    missed: invalidate
  })
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
      await sender.stop()
      await listening.stop()
    }
  }
}

/** Gathers changes and sends one notification at a time. What cannot be sent waits for the database. */
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

/** One change without an id for each resource, for everyone if any customer may see one of its changes. */
function resourcesOf(changes: Published[]): Published[] {
  const forEveryone = new Map<Published['resource'], boolean>()
  for (const { resource, userId, everyone } of changes) {
    const concerned = forEveryone.get(resource) === true || everyone === true || userId !== undefined
    forEveryone.set(resource, concerned)
  }
  return [...forEveryone].map(([resource, everyone]) => (everyone ? { resource, everyone } : { resource }))
}
