import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** The other side ended, or did not do what it should in the time that it has. */
export class Broken extends Error {}
/** Bytes came that are not those that were sent. */
export class Wrong extends Error {}

const PATIENCE_MS = 30_000
const HEAD_END = '\r\n\r\n'

/** A connection of a client, which waits for what it wants. */
export class Wire {
  readonly socket: Socket
  #got: Buffer = Buffer.alloc(0)
  #over = false
  #wake: () => void = () => {}

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#got = Buffer.concat([this.#got, chunk])
      this.#wake()
    })
    socket.on('error', () => {})
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#over = true
        this.#wake()
      })
    }
  }

  async #until(what: string, done: () => boolean): Promise<void> {
    const until = performance.now() + PATIENCE_MS
    while (!done()) {
      const left = until - performance.now()
      if (this.#over) throw new Broken(`ended before ${what}`)
      if (left <= 0) throw new Broken(`silent before ${what}`)
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  async bytes(count: number): Promise<Buffer> {
    await this.#until(`${count} bytes`, () => this.#got.length >= count)
    const taken = this.#got.subarray(0, count)
    this.#got = this.#got.subarray(count)
    return taken
  }

  /** The head of an answer, with its empty line. */
  async head(): Promise<string> {
    await this.#until('an answer', () => this.#got.includes(HEAD_END))
    return (await this.bytes(this.#got.indexOf(HEAD_END) + HEAD_END.length)).toString('latin1')
  }

  /** Waits until the other side has ended as it should. */
  async end(): Promise<void> {
    await this.#until('the end', () => this.#over)
  }

  write(data: string | Buffer): this {
    if (!this.socket.destroyed) this.socket.write(data)
    return this
  }
}

/** Where the agent is, and as whom its clients come. */
export type Place = { ip: string; port: number; user: string; password: string; open: Set<Socket> }

/** A connection to the agent from a client's own address of the loopback. */
export async function dial({ ip, port, open }: Place, from: string, tls = false): Promise<Wire> {
  const plain = connect({ host: ip, port, localAddress: from, allowHalfOpen: true })
  const socket = tls ? connectTls({ socket: plain, rejectUnauthorized: false }) : plain
  for (const each of new Set([plain, socket])) {
    open.add(each)
    each.once('close', () => open.delete(each))
    each.on('error', () => {})
  }
  await new Promise<void>((resolve, reject) => {
    socket.once(tls ? 'secureConnect' : 'connect', () => resolve())
    for (const each of [plain, socket]) each.once('close', () => reject(new Broken('not connected')))
  })
  return new Wire(socket)
}

export const credentials = ({ user, password }: Pick<Place, 'user' | 'password'>): string =>
  `Proxy-Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`

/** The bytes that everybody sends: any piece of them is told from any other. */
const SIZE = 1 << 20
const block = Buffer.alloc(SIZE)
for (let at = 0, seed = 1; at < SIZE; at += 4) {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0
  block.writeInt32LE(seed, at)
}
export const piece = (from: number, count: number): Buffer => block.subarray(from, from + count)

/** Whole numbers from 0 to below `most`, the same for the same seed. */
export function numbers(seed: number): (most: number) => number {
  let state = seed
  return most => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39)
    return ((mixed ^ (mixed >>> 16)) >>> 0) % most
  }
}
