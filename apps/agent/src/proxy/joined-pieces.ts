/** Room that is added at the most: a connection holds little more than what came. */
const MOST_ADDED = 16_384
const NOTHING = Buffer.alloc(0)

/** Joins pieces that come one after the other: however small they are, each byte is copied a few times at most. */
export class JoinedPieces {
  /** What the bytes stand in, with room behind them for the next piece. */
  #room: Buffer | null = null

  /** @param bytes those that it gave the last time, or others after `clear` */
  append(bytes: Buffer, chunk: Buffer): Buffer {
    const length = bytes.length + chunk.length
    if (this.#room === null || this.#room.length < length) {
      this.#room = Buffer.allocUnsafeSlow(length + Math.min(length, MOST_ADDED))
      bytes.copy(this.#room)
    }
    chunk.copy(this.#room, bytes.length)
    return this.#room.subarray(0, length)
  }

  /** The bytes, in memory that nobody else has a part of: of a part that is kept, all is. */
  own(bytes: Buffer): Buffer {
    return this.#room === null ? this.append(NOTHING, bytes) : bytes
  }

  /** What it gave is somebody else's from now on, or only a part of it goes on. */
  clear(): void {
    this.#room = null
  }
}
