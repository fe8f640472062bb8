import type { ClientConnection, Stage } from './connection.ts'

const lingerMs = 2000

/**
 * The last words are said and the connection is to close. What the client still sends is read and forgotten for a short
 * while: closing at once would reset the connection and could take the reply with it.
 */
export class DrainStage implements Stage {
  readonly #connection: ClientConnection
  readonly #until: number

  constructor(connection: ClientConnection) {
    this.#connection = connection
    this.#until = connection.plane.now + lingerMs + connection.plane.limits.sweepMs
    connection.dropRemote()
    connection.socket.resume()
  }

  clientData(): void {}
  clientEnd(): void {
    this.#connection.socket.destroySoon()
  }
  remoteData(): void {}
  remoteEnd(): void {}
  remoteDrain(): void {}
  remoteGone(): void {}

  tick(now: number): void {
    if (now > this.#until) this.#connection.destroy()
  }

  closed(): void {}
}
