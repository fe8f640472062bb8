type Stranger = { readonly stranger: object | null; destroy(): void }

/**
 * What is kept of heads that are not whole, of connections that have not logged in: a sum of bytes for all of them. Where it is too
 * much, the oldest make room: a customer's head comes whole within a moment, whatever its size, and the newest may be a customer's
 * while strangers hold all that may be held.
 */
export class HeldHeads<C extends Stranger> {
  readonly #most: number
  readonly #madeRoom: () => void
  /** Bytes by connection, in the sequence in which their heads began. */
  readonly #held = new Map<C, number>()
  #bytes = 0

  /** @param most bytes of all connections. @param madeRoom is called for each connection that is ended */
  constructor(most: number, madeRoom: () => void) {
    this.#most = most
    this.#madeRoom = madeRoom
  }

  /** So many bytes are kept for the connection now. May end it, or others; one that has logged in is none of them. */
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

  /** The connection is no stranger's any more: it logged in, or it is gone. */
  delete(connection: C): void {
    if (this.#held.size > 0) this.#count(connection, 0)
  }

  #count(connection: C, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(connection) ?? 0)
    if (bytes > 0) this.#held.set(connection, bytes)
    else this.#held.delete(connection)
  }
}
