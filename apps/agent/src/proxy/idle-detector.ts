import type { ClientConnection } from './connection.ts'

/**
 * Tells an idle connection from a slow one. Bytes that arrive count as activity, and so do bytes that the kernel sends: a steady
 * reader at a few kilobytes a second takes nothing from this process for minutes.
 */
export class IdleDetector {
  readonly #connection: ClientConnection
  #seen = -1
  #since: number
  /** Bytes in the kernel after half of the patience. */
  #held: number | null = null
  #asked: 'no' | 'first' | 'second' = 'no'
  #stuck = false

  constructor(connection: ClientConnection) {
    this.#connection = connection
    this.#since = connection.plane.now
  }

  restart(now: number): void {
    this.#since = now
    this.#held = null
    this.#asked = 'no'
    this.#stuck = false
  }

  /** Whether nothing moved for longer than `patience` (milliseconds). */
  isOver(now: number, patience: number): boolean {
    const { socket, remote } = this.#connection
    const seen = socket.bytesRead + socket.bytesWritten - socket.unsent + (remote?.bytesRead ?? 0)
    // A connection held for its user's speed is not idle.
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
      // Activity or a newer question makes this answer obsolete.
      if (this.#asked !== which) return
      const moved = held !== null && this.#held !== null && held !== this.#held
      if (which === 'second' && !moved) this.#stuck = true
      if (moved) this.restart(plane.now)
      this.#held = held
      if (moved) this.#asked = 'first'
    })
  }
}
