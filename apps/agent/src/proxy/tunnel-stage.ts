import type { AgentCode } from '@netlet/contract/agent-codes'
import type { ClientConnection, Stage } from './connection.ts'
import { IdleDetector } from './idle-detector.ts'
import type { RawSocket } from './socket-types.ts'

/** Joins two connections: bytes pass both ways, and an end on one side becomes an end on the other. */
export class TunnelStage implements Stage {
  readonly #connection: ClientConnection
  readonly #client: RawSocket
  readonly #remote: RawSocket
  readonly #finished: (note: AgentCode) => void
  readonly #idle: IdleDetector
  #clientEnded = false
  #remoteEnded = false
  #note: AgentCode = 'ok'

  /** `finished` runs once, when the tunnel ends. `remote` is also the connection's `remote`. */
  constructor(connection: ClientConnection, remote: RawSocket, finished: (note: AgentCode) => void) {
    this.#connection = connection
    this.#client = connection.socket
    this.#remote = remote
    this.#finished = finished
    this.#idle = new IdleDetector(connection)
    // Every chunk now goes straight to the target.
    this.#client.zeroCopy = true
  }

  clientData(chunk: Buffer): void {
    if (this.#remote.destroyed) return this.#undeliverable(chunk)
    this.#remote.write(chunk)
    if (this.#remote.unsent > 0) this.#client.pause()
  }

  /** The target closed its connection completely, so the client must learn that these bytes did not arrive. */
  #undeliverable(chunk: Buffer): void {
    this.#connection.undelivered += chunk.length
    this.#note = 'target-broke'
    this.#client.pause()
    this.#client.resetWhenSent()
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
    if (this.#remoteEnded) {
      // The last bytes to the target are sent.
      if (this.#clientEnded) this.#client.closeWhenSent()
      return
    }
    this.#note = 'target-broke'
    // Written bytes go first, then a reset, so that the client does not take a broken stream for the whole.
    this.#client.pause()
    this.#client.resetWhenSent()
  }

  /** Ends the tunnel with a reset and this log note. */
  break(note: AgentCode): void {
    this.setEndNote(note)
    this.#connection.destroy()
  }

  setEndNote(note: AgentCode): void {
    this.#note = note
  }

  /** Both sides ended. The client's connection closes last, because its end also destroys the target's. */
  #close(): void {
    this.#remote.closeWhenSent()
    if (this.#remote.destroyed) this.#client.closeWhenSent()
  }

  tick(now: number): void {
    const { idleMs, halfClosedMs } = this.#connection.plane.limits
    const patience = this.#clientEnded || this.#remoteEnded ? Math.min(idleMs, halfClosedMs) : idleMs
    if (!this.#idle.isOver(now, patience)) return
    this.#note = 'idle'
    // A client that received everything gets no reset.
    if (this.#remoteEnded && this.#client.unsent === 0) this.#client.closeWhenSent()
    else this.#connection.destroy()
  }

  closed(): void {
    this.#finished(this.#note)
  }
}
