import type { Client, QueryResult, QueryResultRow } from 'pg'

/** How long the connection stays open after its last use (ms). */
const IDLE_MS = 10_000

/** `last` is the latest statement: the driver takes one at a time. */
type Opened = { client: Client; ready: Promise<unknown>; users: number; last: Promise<unknown> }

export type Query = <R extends QueryResultRow>(text: string, values: unknown[]) => Promise<QueryResult<R>>

/** One database session for all session locks of a process. It opens when one is needed. */
export class SharedSession {
  /** What this process has locked: PostgreSQL grants a lock again to the session that holds it. */
  readonly held = new Set<string>()
  readonly #make: () => Client
  #opened: Opened | undefined
  #idle: NodeJS.Timeout | undefined

  /** @param make a client that is not connected yet */
  constructor(make: () => Client) {
    this.#make = make
  }

  /** Runs `work` with the connection, which stays open meanwhile. Statements of several users run one after another. */
  async use<T>(work: (query: Query) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle)
    const opened = (this.#opened ??= this.#open())
    opened.users++
    try {
      await opened.ready
      return await work((text, values) => {
        const query = opened.last.then(() => opened.client.query(text, values))
        opened.last = query.catch(() => {})
        return query as never
      })
    } finally {
      if (--opened.users === 0) this.#closeLater(opened)
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const { client } = this.#opened ?? {}
    this.#opened = undefined
    await client?.end()
  }

  #open(): Opened {
    const client = this.#make()
    const opened = { client, ready: client.connect(), users: 0, last: Promise.resolve() }
    // A lost session has lost its locks. The next user gets another one.
    const forget = () => {
      if (this.#opened === opened) this.#opened = undefined
    }
    client.on('error', forget)
    client.once('end', forget)
    opened.ready.catch(forget)
    return opened
  }

  #closeLater(opened: Opened): void {
    if (this.#opened !== opened) return
    this.#idle = setTimeout(() => void this.close().catch(() => {}), IDLE_MS)
    this.#idle.unref()
  }
}
