/** Most spare room, so that a connection holds little more than it received. */
const MOST_ADDED = 16_384
const NOTHING = Buffer.alloc(0)

/** Joins pieces that arrive in sequence. Each byte is copied only a few times, even if the pieces are tiny. */
export class JoinedPieces {
  /** Buffer of the bytes, with room for the next piece. */
  #room: Buffer | null = null

  /** @param bytes the result of the last call, or other bytes after `clear` */
  append(bytes: Buffer, chunk: Buffer): Buffer {
    const length = bytes.length + chunk.length
    if (this.#room === null || this.#room.length < length) {
      this.#room = Buffer.allocUnsafeSlow(length + Math.min(length, MOST_ADDED))
      bytes.copy(this.#room)
    }
    chunk.copy(this.#room, bytes.length)
    return this.#room.subarray(0, length)
  }

  /** The bytes in their own memory: a slice of a shared buffer would keep the whole buffer. */
  own(bytes: Buffer): Buffer {
    return this.#room === null ? this.append(NOTHING, bytes) : bytes
  }

  /** Gives the buffer up, because its bytes are passed on or only a part of them remains. */
  clear(): void {
    this.#room = null
  }
}
