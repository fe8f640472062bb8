import type { Change } from '@netlet/contract'

export type FeedEvents = {
  changes: (changes: Change[]) => void
  /** Too much happened, or nobody knows what: everything may have changed. */
  reset: () => void
  connected: (connected: boolean) => void
}

type Source = Pick<EventSource, 'addEventListener' | 'close' | 'readyState'>

export type Connection = {
  url: string
  EventSource: new (url: string) => Source
  /** The HTTP status that the address answers with now; 0 without an answer. An event source does not tell its own. */
  statusOf: (url: string) => Promise<number>
  /** Milliseconds before the first and, at most, before every later attempt to connect again. */
  delays: { first: number; most: number }
}

export type Feed = Connection & {
  /** Who is signed in: the feed of another user is another one. */
  userId: number
  /** Where the browser has both, all its tabs share one connection. */
  locks?: LockManager | undefined
  openChannel?: ((name: string) => BroadcastChannel) | undefined
}

/** Answers after which asking again would be no use: nobody is signed in, there is no feed, or there are too many. */
const FINAL = new Set([401, 403, 404, 429])
const CLOSED = 2

/**
 * One connection that stays: a lost one is connected again by the browser, which then gets what it missed; one that the
 * server refused is tried again later and later, and reports a reset once it is open. `gaveUp` follows a final answer.
 * @returns how to end it
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
      // One that takes the place of another, or has heard nothing yet, cannot say where it wants to go on.
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
    // Not all browsers at once after a restart of the server.
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
 * Follows the change feed. Of all tabs that do, the one that holds the lock is connected and passes everything on to the
 * others; when it is closed, the next one takes its place.
 * @returns how to end it
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
      // Somebody else has signed in in another tab: the cookie is the new one's.
      leader.userId = message.userId
      leader.restart()
    } else if (leader) post({ kind: 'connected', connected: isConnected })
  })
  post({ kind: 'hello', userId: feed.userId })

  /** Connects for all tabs, until this one leaves or the server does not want it. */
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
      // What came between the last leader's end and this connection is nobody's to know.
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
