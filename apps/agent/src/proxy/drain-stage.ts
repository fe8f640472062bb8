import type { ClientConnection, Stage } from './connection.ts'
import { IdleDetector } from './idle-detector.ts'

const LINGER_MS = 2000

/**
 * The answer is written and the connection is to close. What the client still sends is read and forgotten for a short
 * while: closing at once would reset the connection and could take the last bytes with it.
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

  /** Says `message`, if any, and ends the connection once everything written has left. */
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
    // A slow reader gets its last bytes as long as it takes any.
    if (socket.unsent > 0) {
      this.#since = now
      if (this.#idle.isOver(now, plane.limits.idleMs)) this.#connection.destroy()
    } else if (now - this.#since > LINGER_MS) socket.closeWhenSent()
  }

  /** Nobody gets it, so nobody pays for it. */
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
