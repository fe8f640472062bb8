import { connect, type Socket } from 'node:net'

/** What all quiet connections read into. What arrives is copied out at once, so that one buffer serves them all. */
const shared = Buffer.allocUnsafeSlow(65_536)
/** A connection that fills the shared buffer gets a larger one of its own and is passed on without copying. */
const ownBytes = 262_144
/** The most such buffers, so that many stalled downloads cannot fill the memory. */
const maxOwned = 256
/** After so many small reads the own buffer goes back. */
const maxSmallReads = 8
const spare: Buffer[] = []
let owned = 0

/**
 * A connection to a target that reads into buffers of ours: a fresh buffer for each read, as streams do it, costs more
 * than everything else in a busy tunnel.
 */
export class Remote {
  readonly socket: Socket
  #own: Buffer | null = null
  #smallReads = 0
  /**
   * Takes each piece. A piece is only lent: whoever does not write or copy it within the call loses it, and as long as
   * its bytes wait in another socket the answer has to be false, which pauses reading until `socket.resume()`.
   */
  receive: (chunk: Buffer) => boolean = () => false

  constructor(host: string, port: number, family: 4 | 6, localAddress: string) {
    this.socket = connect({
      host,
      port,
      family,
      localAddress,
      allowHalfOpen: true,
      noDelay: true,
      autoSelectFamily: false,
      onread: { buffer: () => this.#buffer(), callback: bytes => this.#read(bytes) }
    })
    this.socket.once('close', () => {
      // Not into the spares: its last bytes may still wait in the client's socket.
      if (this.#own !== null) owned--
      this.#own = null
    })
  }

  #read(bytes: number): boolean {
    const own = this.#own
    const go = this.receive(own === null ? Buffer.from(shared.subarray(0, bytes)) : own.subarray(0, bytes))
    this.#smallReads = bytes < shared.length / 2 ? this.#smallReads + 1 : 0
    if (own === null) {
      if (bytes === shared.length && owned < maxOwned && !this.socket.destroyed) {
        owned++
        this.#own = spare.pop() ?? Buffer.allocUnsafeSlow(ownBytes)
      }
    } else if (go && this.#smallReads > maxSmallReads) {
      owned--
      spare.push(own)
      this.#own = null
    }
    return go
  }

  /** Where the next read goes. */
  #buffer(): Buffer {
    return this.#own ?? shared
  }
}
