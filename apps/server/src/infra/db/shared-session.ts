import type { Client } from 'pg'

/** How long the connection stays open after its last use (ms). */
const IDLE_MS = 10_000

type Opened = { client: Client; ready: Promise<unknown>; users: number }

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

  /** Runs `work` with the connection, which stays open meanwhile. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle)
    const opened = (this.#opened ??= this.#open())
    opened.users++
    try {
      await opened.ready
      return await work(opened.client)
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
    const opened = { client, ready: client.connect(), users: 0 }
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
