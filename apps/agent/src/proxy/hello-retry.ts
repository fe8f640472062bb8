import { HANDSHAKE, isOtherRecord, recordLength, RECORD_HEAD } from './client-hello.ts'

const ALERT = 21
/** A server's first message up to the end of its random bytes: the head of the message, the version, 32 bytes. */
const RANDOM_AT = RECORD_HEAD + 6
const RANDOM_END = RANDOM_AT + 32
/** The random bytes of a server that asks for a second hello (RFC 8446 4.1.3). */
const RETRY = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex')

/**
 * Follows a TLS connection behind its first hello. In TLS 1.3 a server may ask for a second one, which comes in the clear,
 * also behind data that the client sent early; and a client may send it before it is asked.
 */
export class HelloRetry {
  /** Bytes of the client's present record that are still to come. */
  #left = 0
  /** The server's first message, as far as it has come. */
  #answer: Buffer = Buffer.alloc(0)
  /** Whether the server asked for a second hello; null while that cannot be told. */
  asked: boolean | null = null

  /** How many of the client's bytes are of records that are no handshake: up to one that is, or whose head is not whole. */
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

  /** Takes in what the server sends. */
  answered(chunk: Buffer): void {
    if (this.asked !== null) return
    let bytes = Buffer.concat([this.#answer, chunk])
    // Warnings may come before its answer. They have two bytes.
    while (bytes[0] === ALERT && bytes.length >= RECORD_HEAD + 2) bytes = bytes.subarray(RECORD_HEAD + 2)
    this.#answer = bytes.subarray(0, RANDOM_END)
    this.asked = asksAgain(this.#answer)
  }
}

function asksAgain(answer: Buffer): boolean | null {
  const [type = HANDSHAKE] = answer
  if (type !== HANDSHAKE) return type === ALERT ? null : false
  if (answer.length < RANDOM_END) return null
  // One that is cut into such small records could be either.
  return recordLength(answer, 0) < RANDOM_END || answer.subarray(RANDOM_AT).equals(RETRY)
}
