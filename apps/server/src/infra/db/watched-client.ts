import { Client, type QueryConfig } from 'pg'

/** The driver's error message for a query without an answer. */
export const SILENCE = 'Query read timeout'

/** A connection that closes if a query gets no answer. The driver would keep it, so the ROLLBACK would wait too. */
export class WatchedClient extends Client {
  /** How long a query may take if it is more than the pool's `query_timeout` (ms). */
  longestMs: number | undefined

  // The driver's overloads do not fit one signature.
  // oxlint-disable-next-line typescript/no-explicit-any
  override query(...[first, ...rest]: any[]): any {
    const result: unknown = super.query(this.#withPatience(first) as QueryConfig, ...rest)
    if (result instanceof Promise) {
      // Closes the connection before the caller sees the error.
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
    // The driver has no type for this. It is the only way to close a connection without waiting for the other side.
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } }
    connection.stream.destroy()
  }
}
