type Stranger = { readonly stranger: object | null; destroy(): void }

/**
 * Limits the memory of incomplete heads, over all connections that have not logged in. Above the limit the oldest are closed: a
 * customer's head is complete within a moment, while strangers may hold the whole memory.
 */
export class HeldHeads<C extends Stranger> {
  readonly #most: number
  readonly #madeRoom: () => void
  /** Bytes by connection, oldest head first. */
  readonly #held = new Map<C, number>()
  #bytes = 0

  /** @param most bytes of all connections. @param madeRoom is called for each connection that is closed */
  constructor(most: number, madeRoom: () => void) {
    this.#most = most
    this.#madeRoom = madeRoom
  }

  /** Sets the bytes that a connection holds, and may close it or others. Connections that logged in do not count. */
  set(connection: C, bytes: number): void {
    if (connection.stranger !== null) this.#count(connection, bytes)
    while (this.#bytes > this.#most) {
      const oldest = this.#held.keys().next().value
      if (oldest === undefined) return
      this.#count(oldest, 0)
      this.#madeRoom()
      oldest.destroy()
    }
  }

  /** The connection logged in, or is gone. */
  delete(connection: C): void {
    if (this.#held.size > 0) this.#count(connection, 0)
  }

  #count(connection: C, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(connection) ?? 0)
    if (bytes > 0) this.#held.set(connection, bytes)
    else this.#held.delete(connection)
  }
}
