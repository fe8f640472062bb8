import type { ClientConnection, Stage } from './connection.ts'
import type { RawSocket } from './raw-socket.ts'

/** Two connections joined: bytes pass both ways as they come, an end on one side becomes an end on the other. */
export class TunnelStage implements Stage {
  readonly #connection: ClientConnection
  readonly #client: RawSocket
  readonly #remote: RawSocket
  readonly #finished: (note: string) => void
  #seen = -1
  #quietSince: number
  #clientEnded = false
  #remoteEnded = false
  #note = 'ok'

  /** `finished` runs once, when the tunnel is over. The target's socket is the connection's `remote`. */
  constructor(connection: ClientConnection, remote: RawSocket, finished: (note: string) => void) {
    this.#connection = connection
    this.#client = connection.socket
    this.#remote = remote
    this.#finished = finished
    this.#quietSince = connection.plane.now
    // From here on every piece goes straight to the target.
    this.#client.zeroCopy = true
  }

  clientData(chunk: Buffer): void {
    this.#remote.write(chunk)
    if (this.#remote.unsent > 0) this.#client.pause()
  }

  remoteData(chunk: Buffer): void {
    this.#client.write(chunk)
  }

  remoteDrain(): void {
    this.#client.resume()
  }

  clientEnd(): void {
    this.#clientEnded = true
    if (this.#remoteEnded) this.#close()
    else this.#remote.end()
  }

  remoteEnd(): void {
    this.#remoteEnded = true
    if (this.#clientEnded) this.#close()
    else this.#client.end()
  }

  remoteGone(): void {
    // After both ends the target's socket closes first or last; before that, the client learns of the break.
    if (!this.#remoteEnded) {
      this.#note = 'target-broke'
      // A reset, so that the client does not take a broken stream for a whole one; bytes on their way go first.
      if (this.#client.unsent === 0) this.#client.reset()
      else this.#client.closeWhenSent()
    }
  }

  /** Both sides have ended. */
  #close(): void {
    this.#remote.closeWhenSent()
    this.#client.closeWhenSent()
  }

  tick(now: number): void {
    const { idleMs, halfClosedMs } = this.#connection.plane.limits
    const patience = this.#clientEnded || this.#remoteEnded ? Math.min(idleMs, halfClosedMs) : idleMs
    const seen = this.#client.bytesRead + this.#remote.bytesRead
    if (seen !== this.#seen) {
      this.#seen = seen
      this.#quietSince = now
    } else if (now - this.#quietSince > patience) {
      this.#note = 'idle'
      this.#connection.destroy()
    }
  }

  closed(): void {
    this.#finished(this.#note)
  }
}
