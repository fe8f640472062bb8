import type { Change } from '@netlet/contract'

export type FeedEvents = {
  changes: (changes: Change[]) => void
  /** The server dropped changes or cannot tell what changed. Treat everything as changed. */
  reset: () => void
  connected: (connected: boolean) => void
}

type Source = Pick<EventSource, 'addEventListener' | 'close' | 'readyState'>

export type Connection = {
  url: string
  EventSource: new (url: string) => Source
  /** The current HTTP status of the address; 0 if there is no answer. EventSource does not expose it. */
  statusOf: (url: string) => Promise<number>
  /** Milliseconds before the first retry, and the upper limit for later ones. */
  delays: { first: number; most: number }
}

export type Feed = Connection & {
  /** The signed-in user. Each user has their own feed. */
  userId: number
  /** If the browser supports both, all its tabs share one connection. */
  locks?: LockManager | undefined
  openChannel?: ((name: string) => BroadcastChannel) | undefined
}

/** Statuses that end the retries: not signed in, no feed, too many feeds. */
const FINAL = new Set([401, 403, 404, 429])
const CLOSED = 2

/**
 * Keeps one connection open. The browser reopens a lost connection and resumes where it stopped. If the server refused,
 * we retry with backoff and report a reset once the connection opens. A final status calls `gaveUp`.
 * @returns stops the feed
 */
function connectFeed(to: Connection, on: FeedEvents & { gaveUp: () => void }): () => void {
  let source: Source | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let ended = false

  function open(): void {
    const mine = new to.EventSource(to.url)
    source = mine
    let lost = false
    let heard = false
    mine.addEventListener('open', () => {
      // A new EventSource, or one without any event yet, has no last event id and cannot resume.
      if (failures > 0 || (lost && !heard)) on.reset()
      failures = 0
      on.connected(true)
    })
    mine.addEventListener('change', event => {
      heard = true
      const changes = changesOf((event as MessageEvent<string>).data)
      if (changes) on.changes(changes)
      else on.reset()
    })
    mine.addEventListener('reset', () => on.reset())
    mine.addEventListener('error', () => {
      if (ended || source !== mine) return
      lost = true
      on.connected(false)
      if (mine.readyState === CLOSED) void refused()
    })
  }

  async function refused(): Promise<void> {
    source = undefined
    const status = await to.statusOf(to.url)
    if (ended) return
    if (FINAL.has(status)) {
      end()
      on.gaveUp()
      return
    }
    const delay = Math.min(to.delays.most, to.delays.first * 2 ** failures)
    failures++
    // Jitter, so that browsers do not all reconnect together after the server restarts.
    timer = setTimeout(open, delay * (0.5 + Math.random() / 2))
  }

  function end(): void {
    ended = true
    clearTimeout(timer)
    source?.close()
    on.connected(false)
  }

  open()
  return end
}

function changesOf(text: string): Change[] | undefined {
  try {
    const { changes } = JSON.parse(text) as { changes?: Change[] }
    return Array.isArray(changes) ? changes : undefined
  } catch {
    return undefined
  }
}

const NAME = 'netlet-changes'

type Message =
  | { kind: 'changes'; changes: Change[] }
  | { kind: 'reset' }
  | { kind: 'connected'; connected: boolean }
  | { kind: 'hello'; userId: number }

/**
 * Follows the change feed. One tab holds a lock, connects and passes each event to the other tabs. When that tab
 * closes, another tab takes over.
 * @returns stops following
 */
export function followChanges(feed: Feed, on: FeedEvents): () => void {
  const channel = feed.locks && feed.openChannel?.(NAME)
  if (!feed.locks || !channel) return connectFeed(feed, { ...on, gaveUp: () => undefined })

  const leaving = new AbortController()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a broadcast channel stays within its origin
  const post = (message: Message) => channel.postMessage(message)
  let isConnected = false
  let heardLeader = false
  let leader: { userId: number; restart: () => void } | undefined

  const tell = (message: Exclude<Message, { kind: 'hello' }>) => {
    if (message.kind === 'changes') on.changes(message.changes)
    else if (message.kind === 'reset') on.reset()
    else {
      isConnected = message.connected
      on.connected(message.connected)
    }
  }
  const tellAll = (message: Exclude<Message, { kind: 'hello' }>) => {
    if (leaving.signal.aborted) return
    tell(message)
    post(message)
  }

  channel.addEventListener('message', event => {
    const message = (event as MessageEvent<Message>).data
    if (message.kind !== 'hello') {
      heardLeader = true
      tell(message)
    } else if (leader && leader.userId !== message.userId) {
      // Another tab signed in as another user, so the cookie has changed.
      leader.userId = message.userId
      leader.restart()
    } else if (leader) post({ kind: 'connected', connected: isConnected })
  })
  post({ kind: 'hello', userId: feed.userId })

  /** Holds the connection for all tabs until this tab closes or the server refuses it. */
  const lead = () =>
    new Promise<void>(resolve => {
      let disconnect = () => {}
      const connect = () => {
        disconnect = connectFeed(feed, {
          changes: changes => tellAll({ kind: 'changes', changes }),
          reset: () => tellAll({ kind: 'reset' }),
          connected: connected => tellAll({ kind: 'connected', connected }),
          gaveUp: leave
        })
      }
      function leave(): void {
        leader = undefined
        disconnect()
        resolve()
      }
      leader = {
        userId: feed.userId,
        restart: () => {
          disconnect()
          connect()
        }
      }
      leaving.signal.addEventListener('abort', leave, { once: true })
      // We missed the changes between the last leader's end and this connection.
      if (heardLeader) tellAll({ kind: 'reset' })
      connect()
    })

  feed.locks.request(NAME, { signal: leaving.signal }, lead).catch(() => undefined)
  return () => {
    leaving.abort()
    channel.close()
    on.connected(false)
  }
}
