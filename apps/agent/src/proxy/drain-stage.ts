import type { ClientConnection, Stage } from './connection.ts'

const LINGER_MS = 2000

/**
 * The last words are said and the connection is to close. What the client still sends is read and forgotten for a short
 * while: closing at once would reset the connection and could take the last bytes with it.
 */
export class DrainStage implements Stage {
  readonly #connection: ClientConnection
  #waiting = -1
  #since: number

  private constructor(connection: ClientConnection) {
    this.#connection = connection
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
    const waiting = this.#connection.socket.unsent
    if (waiting !== this.#waiting) {
      this.#waiting = waiting
      this.#since = now
    }
    // A slow reader gets its last bytes as long as it takes any.
    const patience = waiting > 0 ? this.#connection.plane.limits.idleMs : LINGER_MS
    if (now - this.#since > patience) this.#connection.destroy()
  }

  clientData(): void {}
  clientEnd(): void {}
  remoteData(): void {}
  remoteEnd(): void {}
  remoteDrain(): void {}
  remoteGone(): void {}
  closed(): void {}
}
