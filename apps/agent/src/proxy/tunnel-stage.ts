import type { Socket } from 'node:net'
import type { ClientConnection, Stage } from './connection.ts'

/** Two sockets joined: bytes pass both ways as they come, an end on one side becomes an end on the other. */
export class TunnelStage implements Stage {
  readonly #connection: ClientConnection
  readonly #client: Socket
  readonly #remote: Socket
  readonly #finished: (note: string) => void
  #seen = -1
  #quietSince: number
  #clientEnded = false
  #remoteEnded = false
  #note = 'ok'

  /** `finished` runs once, when the tunnel is over. The target's socket is the connection's `remote`. */
  constructor(connection: ClientConnection, remote: Socket, finished: (note: string) => void) {
    this.#connection = connection
    this.#client = connection.socket
    this.#remote = remote
    this.#finished = finished
    this.#quietSince = connection.plane.now
  }

  clientData(chunk: Buffer): void {
    if (!this.#remote.write(chunk)) this.#client.pause()
  }

  remoteData(chunk: Buffer): void {
    this.#client.write(chunk)
  }

  remoteDrain(): void {
    this.#client.resume()
  }

  clientEnd(): void {
    this.#clientEnded = true
    this.#remote.end()
    this.#closeIfBothEnded()
  }

  remoteEnd(): void {
    this.#remoteEnded = true
    this.#client.end()
    this.#closeIfBothEnded()
  }

  remoteGone(): void {
    // After both ends the target's socket closes first or last; before that, the client learns of the break.
    if (!this.#remoteEnded) {
      this.#note = 'target-broke'
      // A reset, so that the client does not take a broken stream for a whole one; bytes on their way go first.
      if (this.#client.writableLength === 0) this.#client.resetAndDestroy()
      else this.#client.destroySoon()
    }
  }

  #closeIfBothEnded(): void {
    if (!this.#clientEnded || !this.#remoteEnded) return
    this.#client.destroySoon()
    this.#remote.destroySoon()
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
