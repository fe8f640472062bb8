import { HANDSHAKE, isOtherRecord, recordLength, RECORD_HEAD } from './client-hello.ts'

const ALERT = 21
/** Where the random bytes of a server's first message are: after record head, message head and version. */
const RANDOM_AT = RECORD_HEAD + 6
const RANDOM_END = RANDOM_AT + 32
/** The random bytes of a server that asks for a second hello (RFC 8446 4.1.3). */
const RETRY = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex')

/**
 * Follows a TLS connection after its first hello. A TLS 1.3 server may ask for a second hello. It comes in the clear, may
 * follow early data, and a client may send it unasked.
 */
export class HelloRetry {
  /** Missing bytes of the client's present record. */
  #left = 0
  /** The beginning of the server's first message. */
  #answer: Buffer = Buffer.alloc(0)
  /** Whether the server asked for a second hello. Null: not known yet. */
  asked: boolean | null = null

  /** How many bytes belong to records other than handshakes, up to the next handshake or incomplete record head. */
  skip(bytes: Buffer): number {
    let at = Math.min(this.#left, bytes.length)
    this.#left -= at
    while (at + RECORD_HEAD <= bytes.length && isOtherRecord(bytes[at])) {
      const end = at + recordLength(bytes, at)
      at = Math.min(end, bytes.length)
      this.#left = end - at
    }
    return at
  }

  answered(chunk: Buffer): void {
    if (this.asked !== null) return
    let bytes = Buffer.concat([this.#answer, chunk])
    // Warnings of two bytes may come before the answer.
    while (bytes[0] === ALERT && bytes.length >= RECORD_HEAD + 2) bytes = bytes.subarray(RECORD_HEAD + 2)
    this.#answer = bytes.subarray(0, RANDOM_END)
    this.asked = asksAgain(this.#answer)
  }
}

function asksAgain(answer: Buffer): boolean | null {
  const [type = HANDSHAKE] = answer
  if (type !== HANDSHAKE) return type === ALERT ? null : false
  if (answer.length < RANDOM_END) return null
  // The records are too small to tell, so it may have asked.
  return recordLength(answer, 0) < RANDOM_END || answer.subarray(RANDOM_AT).equals(RETRY)
}
