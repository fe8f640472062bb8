/**
 * What the first bytes of a client tell. `name` is the server name that it shows (lower case, no trailing dot), null
 * where there is none; `encrypted` says that another name may be hidden in the hello (ECH, or its imitation); `length` is how many
 * bytes its records have.
 */
export type Hello =
  | { kind: 'more' }
  | { kind: 'malformed' }
  | { kind: 'hello'; name: string | null; encrypted: boolean; length: number }

/** The type of a record, a version, and the length of the rest. */
export const RECORD_HEAD = 5
/** The types of records: change of cipher, alert, handshake, application data. */
const CHANGE_CIPHER_SPEC = 20
export const HANDSHAKE = 22
const APPLICATION_DATA = 23
/** The first half of every version that there is. */
const MAJOR = 3
/** Before it are the numbers that contents begin with. */
const FIRST_LETTER = 0x20
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const ENCRYPTED_CLIENT_HELLO = 0xfe0d
/** Hellos with post-quantum keys are at 2 KB; padded ones and tickets stay far below this. */
const MAX_HELLO = 65_536
/** Clients that hide from filters cut a hello into some dozens of records; each costs a step of every look at it. */
const MAX_RECORDS = 128

const malformed: Hello = { kind: 'malformed' }
const NAME = /^(?=.{1,253}\.?$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/

/**
 * Whether the bytes begin a TLS connection, in the record format of today or the one of SSL 2, which has no names. Another
 * protocol may begin so as well: few do.
 */
export function looksLikeTls(bytes: Buffer): boolean {
  // Of the old format the first four bytes tell; until they are here, it may be.
  return (
    looksLikeRecord(bytes) ||
    looksLikeSsl2(bytes.length < 4 ? Buffer.concat([bytes, ssl2.subarray(bytes.length)]) : bytes)
  )
}
/**
 * Some servers pass over an alert before the hello: what begins with any record is TLS. So it is with any version, since many
 * servers do not look at the one of the first record. But none takes one whose content begins with a letter, as a message, an
 * alert or a change of cipher does not: so begin games, for one, with the length of what they say and the name of their server.
 */
const looksLikeRecord = ([type, major = MAJOR, , , , content = 0]: Buffer): boolean =>
  (type === HANDSHAKE || isOtherRecord(type)) && (major === MAJOR || content < FIRST_LETTER)
/** Whether it is the type of a record, and not that of a handshake. */
export const isOtherRecord = (type = 0): boolean =>
  type >= CHANGE_CIPHER_SPEC && type <= APPLICATION_DATA && type !== HANDSHAKE
/** The length of a record with its head, which is there. */
export const recordLength = (bytes: Buffer, at: number): number => RECORD_HEAD + bytes.readUInt16BE(at + 3)
const ssl2 = Buffer.from([0x80, 0, CLIENT_HELLO, 3])
/** The most that the first byte can be: servers take no record above 16 KB. What telnet begins with (255) is beyond. */
const MOST_OF_SSL2 = 0xc1
const looksLikeSsl2 = ([first = 0, , type, version]: Buffer): boolean =>
  first >= 0x80 && first <= MOST_OF_SSL2 && type === CLIENT_HELLO && version === 3

/** Reads a hello of a TLS client, which may be in several records. */
export function readClientHello(bytes: Buffer): Hello {
  // As much as tells whether it is one.
  if (bytes.length <= RECORD_HEAD) return { kind: 'more' }
  if (looksLikeSsl2(bytes)) return { kind: 'hello', name: null, encrypted: false, length: bytes.length }
  const message = helloMessage(bytes)
  if (message === 'malformed') return malformed
  if (message === 'more') return bytes.length > MAX_HELLO ? malformed : { kind: 'more' }
  return readBody(new Reader(message.body), message.length)
}

/** Whether the first hello of a TLS client is all there. What is in it is for others to judge. */
export function helloState(bytes: Buffer): 'whole' | 'more' | 'malformed' {
  const message = helloMessage(bytes)
  return typeof message === 'string' ? message : 'whole'
}

/** The first hello without the head of its message, put together from its records, and the length of these. */
function helloMessage(bytes: Buffer): { body: Buffer; length: number } | 'more' | 'malformed' {
  const parts: Buffer[] = []
  let have = 0
  /** As the heads of the records say. */
  let said = 0
  let whole = -1
  let at = 0
  for (;;) {
    if (at < bytes.length && bytes[at] !== HANDSHAKE) return 'malformed'
    if (bytes.length < at + RECORD_HEAD) break
    const end = at + recordLength(bytes, at)
    if (end === at + RECORD_HEAD || parts.length === MAX_RECORDS) return 'malformed'
    const part = bytes.subarray(at + RECORD_HEAD, end)
    parts.push(part)
    have += part.length
    said += end - at - RECORD_HEAD
    at = end
    if (whole < 0 && have >= 4) whole = helloLength(parts)
    if ((whole >= 0 && whole <= have) || bytes.length < end) break
  }
  if (have > 0 && parts[0]?.[0] !== CLIENT_HELLO) return 'malformed'
  if (whole < 0 || have < whole) return 'more'
  // No client has more to say before it is answered. It could be a second hello.
  if (said > whole) return 'malformed'
  const message = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
  return { body: message.subarray(4), length: at }
}

/** The length of the handshake message with its head, as its first four bytes say. */
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
  // Hellos of before extensions end here.
  const extensions = body.empty ? new Reader(Buffer.alloc(0)) : new Reader(body.vector(2))
  const seen = new Set<number>()
  while (!extensions.empty && !extensions.broken) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    // Two of a kind could be read differently by the target.
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

/** The one host name of the extension; null where it is not as it has to be. */
function serverName(content: Buffer): string | null {
  const outer = new Reader(content)
  const list = new Reader(outer.vector(2))
  const type = list.number(1)
  const name = list.vector(2).toString('latin1').toLowerCase()
  if (outer.broken || list.broken || !outer.empty || !list.empty || type !== 0 || !NAME.test(name)) return null
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/** Reads from front to back; whatever is not there makes it `broken`. */
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

  /** Bytes with their length, a number of `size` bytes, before them. */
  vector(size: number): Buffer {
    const length = this.number(size)
    const from = this.#at
    this.skip(length)
    return this.broken ? Buffer.alloc(0) : this.#bytes.subarray(from, this.#at)
  }
}
