import type { ClientConnection } from './connection.ts'

/**
 * Tells a connection on which nothing moves from one that is slow. Bytes that come are movement, and so are bytes that the kernel
 * sends on: a steady reader at a few kilobytes a second takes nothing from us for minutes.
 */
export class IdleDetector {
  readonly #connection: ClientConnection
  #seen = -1
  #since: number
  /** What the kernel held half-way, when both sides had been silent for so long. */
  #held: number | null = null
  #asked: 'no' | 'first' | 'second' = 'no'
  #stuck = false

  constructor(connection: ClientConnection) {
    this.#connection = connection
    this.#since = connection.plane.now
  }

  /** Begins anew. */
  restart(now: number): void {
    this.#since = now
    this.#held = null
    this.#asked = 'no'
    this.#stuck = false
  }

  /** Whether nothing has moved for longer than `patience` (milliseconds). */
  isOver(now: number, patience: number): boolean {
    const { socket, remote } = this.#connection
    const seen = socket.bytesRead + socket.bytesWritten - socket.unsent + (remote?.bytesRead ?? 0)
    // What waits for its user's turn is not silent: nobody lets it move.
    if (seen !== this.#seen || socket.held || remote?.held === true) {
      this.#seen = seen
      this.restart(now)
      return false
    }
    const quiet = now - this.#since
    if (socket.unsent === 0 && (remote === null || remote.unsent === 0)) return quiet > patience
    if (this.#asked === 'no' && quiet > patience / 2) this.#ask('first')
    else if (this.#asked === 'first' && quiet > patience) this.#ask('second')
    return this.#stuck
  }

  #ask(which: 'first' | 'second'): void {
    const { socket, remote, plane } = this.#connection
    this.#asked = which
    const ends = [socket, remote].filter(each => each !== null).map(({ local, peer }) => ({ local, peer }))
    plane.sendQueues.ask(ends, held => {
      // What came meanwhile decides before this.
      if (this.#asked !== which) return
      const moved = held !== null && this.#held !== null && held !== this.#held
      if (which === 'second' && !moved) this.#stuck = true
      if (moved) this.restart(plane.now)
      this.#held = held
      if (moved) this.#asked = 'first'
    })
  }
}
