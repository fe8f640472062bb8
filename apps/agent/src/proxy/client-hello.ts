/**
 * What the first bytes of a client show. `name`: the server name in lower case, without trailing dot, or null.
 * `encrypted`: another name may be hidden in the hello (ECH, or its imitation). `length`: bytes of its records.
 */
export type Hello =
  | { kind: 'more' }
  | { kind: 'malformed' }
  | { kind: 'hello'; name: string | null; encrypted: boolean; length: number }

/** Type, version and length of a record. */
const RECORD_HEAD = 5
/** Record types. */
const CHANGE_CIPHER_SPEC = 20
export const HANDSHAKE = 22
const APPLICATION_DATA = 23
/** First byte of every TLS version number. */
const MAJOR = 3
/** Smaller bytes are numbers: the first byte of a record's content. */
const FIRST_LETTER = 0x20
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const ENCRYPTED_CLIENT_HELLO = 0xfe0d
/** Far above real hellos: 2 KB with post-quantum keys, more with padding and tickets. */
const MAX_TUNNEL_HELLO = 65_536
/** Clients that evade filters split a hello into a few dozen records. Each record makes every check of the hello slower. */
const MAX_RECORDS = 128

const malformed: Hello = { kind: 'malformed' }
const NAME = /^(?=.{1,253}\.?$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/

/** Whether the bytes begin a TLS connection, in today's record format or in SSL 2's, which has no server names. */
export function looksLikeTls(bytes: Buffer): boolean {
  // The first four bytes identify SSL 2. Until they are here, it is possible.
  return (
    looksLikeRecord(bytes) ||
    looksLikeSsl2(bytes.length < 4 ? Buffer.concat([bytes, ssl2.subarray(bytes.length)]) : bytes)
  )
}
/**
 * Any record may begin a connection, because some servers skip an alert before the hello, and any version, because many servers
 * ignore that of the first record. But no record's content begins with a letter. Some games begin so: a length, then the
 * name of their server.
 */
const looksLikeRecord = ([type, major = MAJOR, , , , content = 0]: Buffer): boolean =>
  (type === HANDSHAKE || isOtherRecord(type)) && (major === MAJOR || content < FIRST_LETTER)
/** Whether it is a record type other than handshake. */
export const isOtherRecord = (type = 0): boolean =>
  type >= CHANGE_CIPHER_SPEC && type <= APPLICATION_DATA && type !== HANDSHAKE
/** Length of the record at `at`, with its head, which must be complete. */
const recordLength = (bytes: Buffer, at: number): number => RECORD_HEAD + bytes.readUInt16BE(at + 3)
const ssl2 = Buffer.from([0x80, 0, CLIENT_HELLO, 3])
/** Servers take no record above 16 KB. Excludes telnet, whose first byte is 255. */
const MOST_OF_SSL2 = 0xc1
const looksLikeSsl2 = ([first = 0, , type, version]: Buffer): boolean =>
  first >= 0x80 && first <= MOST_OF_SSL2 && type === CLIENT_HELLO && version === 3

/** Parses a TLS client hello, which may be split into several records. */
export function readClientHello(bytes: Buffer): Hello {
  // The minimum to tell whether it is a hello.
  if (bytes.length <= RECORD_HEAD) return { kind: 'more' }
  if (looksLikeSsl2(bytes)) return { kind: 'hello', name: null, encrypted: false, length: bytes.length }
  const message = helloMessage(bytes)
  if (message === 'malformed') return malformed
  if (message === 'more') return bytes.length > MAX_TUNNEL_HELLO ? malformed : { kind: 'more' }
  return readBody(new Reader(message.body), message.length)
}

/** Whether the first TLS hello is complete. Its content is not checked. */
export function helloState(bytes: Buffer): 'whole' | 'more' | 'malformed' {
  const message = helloMessage(bytes)
  return typeof message === 'string' ? message : 'whole'
}

/** The first hello, joined from its records, without the message head; `length`: bytes of these records. */
function helloMessage(bytes: Buffer): { body: Buffer; length: number } | 'more' | 'malformed' {
  const parts: Buffer[] = []
  let received = 0
  /** Content length that the record heads announce. */
  let announced = 0
  let messageLength = -1
  let offset = 0
  for (;;) {
    if (offset < bytes.length && bytes[offset] !== HANDSHAKE) return 'malformed'
    if (bytes.length < offset + RECORD_HEAD) break
    const end = offset + recordLength(bytes, offset)
    if (end === offset + RECORD_HEAD || parts.length === MAX_RECORDS) return 'malformed'
    const part = bytes.subarray(offset + RECORD_HEAD, end)
    parts.push(part)
    received += part.length
    announced += end - offset - RECORD_HEAD
    offset = end
    if (messageLength < 0 && received >= 4) messageLength = helloLength(parts)
    if ((messageLength >= 0 && messageLength <= received) || bytes.length < end) break
  }
  if (received > 0 && parts[0]?.[0] !== CLIENT_HELLO) return 'malformed'
  if (messageLength < 0 || received < messageLength) return 'more'
  // A client has nothing more to say before an answer, so extra bytes could be a second hello.
  if (announced > messageLength) return 'malformed'
  const message = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
  return { body: message.subarray(4), length: offset }
}

/** Length of the handshake message with its head, from its first four bytes. */
function helloLength(parts: readonly Buffer[]): number {
  const head = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
  return 4 + head.readUIntBE(1, 3)
}

function readBody(body: Reader, length: number): Hello {
  body.skip(34)
  body.vector(1)
  body.vector(2)
  body.vector(1)
  let name: string | null = null
  let encrypted = false
  // Old hellos have no extensions.
  const extensions = body.empty ? new Reader(Buffer.alloc(0)) : new Reader(body.vector(2))
  const seen = new Set<number>()
  while (!extensions.empty && !extensions.broken) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    // The target could read duplicate extensions differently.
    if (seen.has(type)) return malformed
    seen.add(type)
    if (type === ENCRYPTED_CLIENT_HELLO) encrypted = true
    if (type === SERVER_NAME) {
      const read = serverName(content)
      if (read === null) return malformed
      name = read
    }
  }
  return body.broken || extensions.broken ? malformed : { kind: 'hello', name, encrypted, length }
}

/** The one host name of the extension. Null: malformed. */
function serverName(content: Buffer): string | null {
  const outer = new Reader(content)
  const list = new Reader(outer.vector(2))
  const type = list.number(1)
  const name = list.vector(2).toString('latin1').toLowerCase()
  if (outer.broken || list.broken || !outer.empty || !list.empty || type !== 0 || !NAME.test(name)) return null
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/** A sequential reader. It becomes `broken` when bytes are missing. */
class Reader {
  readonly #bytes: Buffer
  #at = 0
  broken = false

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get empty(): boolean {
    return this.#at >= this.#bytes.length
  }

  skip(count: number): void {
    this.#at += count
    if (this.#at > this.#bytes.length) this.broken = true
  }

  number(size: number): number {
    const from = this.#at
    this.skip(size)
    return this.broken ? 0 : this.#bytes.readUIntBE(from, size)
  }

  /** Bytes after their length, which is a number of `size` bytes. */
  vector(size: number): Buffer {
    const length = this.number(size)
    const from = this.#at
    this.skip(length)
    return this.broken ? Buffer.alloc(0) : this.#bytes.subarray(from, this.#at)
  }
}

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
  skipOtherRecords(bytes: Buffer): number {
    let at = Math.min(this.#left, bytes.length)
    this.#left -= at
    while (at + RECORD_HEAD <= bytes.length && isOtherRecord(bytes[at])) {
      const end = at + recordLength(bytes, at)
      at = Math.min(end, bytes.length)
      this.#left = end - at
    }
    return at
  }

  readAnswer(chunk: Buffer): void {
    if (this.asked !== null) return
    let bytes = Buffer.concat([this.#answer, chunk])
    // Warnings of two bytes may come before the answer.
    while (bytes[0] === ALERT && bytes.length >= RECORD_HEAD + 2) bytes = bytes.subarray(RECORD_HEAD + 2)
    this.#answer = bytes.subarray(0, RANDOM_END)
    this.asked = isRetryRequest(this.#answer)
  }
}

function isRetryRequest(answer: Buffer): boolean | null {
  const [type = HANDSHAKE] = answer
  if (type !== HANDSHAKE) return type === ALERT ? null : false
  if (answer.length < RANDOM_END) return null
  // The records are too small to tell, so it may have asked.
  return recordLength(answer, 0) < RANDOM_END || answer.subarray(RANDOM_AT).equals(RETRY)
}
