import { Client, type QueryConfig } from 'pg'

/** The message of the error of a query that got no answer in time. It is the driver's own. */
export const SILENCE = 'Query read timeout'

/**
 * A connection that is given up when it does not answer. The driver alone fails the query and keeps the connection: the
 * next one, such as the ROLLBACK that follows, would wait as long again.
 */
export class WatchedClient extends Client {
  /** How long a query may take, where it is more than the pool's `query_timeout` (milliseconds). */
  longestMs: number | undefined

  // The driver's overloads cannot be written as one signature.
  // oxlint-disable-next-line typescript/no-explicit-any
  override query(...[first, ...rest]: any[]): any {
    const result: unknown = super.query(this.#withPatience(first) as QueryConfig, ...rest)
    if (result instanceof Promise) {
      // Before the caller hears of it.
      result.catch((error: unknown) => {
        if (error instanceof Error && error.message === SILENCE) this.#giveUp()
      })
    }
    return result
  }

  #withPatience(query: unknown): unknown {
    if (this.longestMs === undefined) return query
    if (typeof query === 'string') return { text: query, query_timeout: this.longestMs }
    return typeof query === 'object' ? Object.assign(query ?? {}, { query_timeout: this.longestMs }) : query
  }

  #giveUp(): void {
    // Typed by nobody, and the one way to end a connection without a word to the other side.
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } }
    connection.stream.destroy()
  }
}
