import type { ClientConnection, Stage } from './connection.ts'
import { IdleDetector } from './idle-detector.ts'

const LINGER_MS = 2000

/**
 * The answer is written and the connection is about to close. Input is read and dropped for a short while, because closing
 * at once would send a reset, and the client could lose the last bytes.
 */
export class DrainStage implements Stage {
  readonly #connection: ClientConnection
  readonly #idle: IdleDetector
  #since: number

  private constructor(connection: ClientConnection) {
    this.#connection = connection
    this.#idle = new IdleDetector(connection)
    this.#since = connection.plane.now
  }

  /** Writes `message`, if any, and ends the connection once everything is sent. */
  static close(connection: ClientConnection, message?: string | Buffer): void {
    connection.stage = new DrainStage(connection)
    connection.dropRemote()
    const { socket } = connection
    if (message !== undefined) socket.write(message)
    socket.end()
    socket.resume()
  }

  tick(now: number): void {
    const { socket, plane } = this.#connection
    // A slow reader gets the last bytes while it makes progress.
    if (socket.unsent > 0) {
      this.#since = now
      if (this.#idle.isOver(now, plane.limits.idleMs)) this.#connection.destroy()
    } else if (now - this.#since > LINGER_MS) socket.closeWhenSent()
  }

  /** Dropped input is not counted. */
  clientData(chunk: Buffer): void {
    this.#connection.undelivered += chunk.length
  }
  clientEnd(): void {}
  remoteData(): void {}
  remoteEnd(): void {}
  remoteDrain(): void {}
  remoteGone(): void {}
  closed(): void {}
}
