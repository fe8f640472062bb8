import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseAddress } from './ip.ts'

/** One end of a connection. */
export type Endpoint = { address: string; port: number }
export type Ends = { local: Endpoint; peer: Endpoint }

const FILES = ['/proc/net/tcp', '/proc/net/tcp6']

type Question = { keys: string[]; answer: (bytes: number | null) => void }

/**
 * Counts the written bytes that are still in the kernel's send queue. This distinguishes a slow reader from one that is
 * gone, because a megabyte may drain between two writes. Questions that come together share one read of the system's
 * table, which is read in pieces.
 */
export class SendQueues {
  #waiting: Question[] = []
  #busy = false

  /** Calls back with the total of these connections; null if the system does not tell. */
  ask(connections: readonly Ends[], answer: (bytes: number | null) => void): void {
    this.#waiting.push({ keys: connections.map(keyOf), answer })
    if (!this.#busy) void this.#run()
  }

  async #run(): Promise<void> {
    this.#busy = true
    while (this.#waiting.length > 0) {
      const questions = this.#waiting
      this.#waiting = []
      const found = await readSendQueues(new Set(questions.flatMap(question => question.keys)))
      for (const { keys, answer } of questions) {
        const known = keys.map(key => found.get(key)).filter(bytes => bytes !== undefined)
        answer(known.length === 0 ? null : known.reduce((sum, bytes) => sum + bytes, 0))
      }
    }
    this.#busy = false
  }
}

async function readSendQueues(keys: ReadonlySet<string>): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const file of FILES) {
    try {
      for await (const line of createInterface({ input: createReadStream(file) })) {
        // `  7: 0100007F:1F90 0100007F:D2C4 01 00012345:00000000 …`: both ends, state, bytes to send and to read.
        const [, local = '', peer = '', , queues = ''] = line.trim().split(/\s+/, 5)
        const key = `${plain(local)} ${plain(peer)}`
        if (keys.has(key)) found.set(key, Number.parseInt(queues.slice(0, 8), 16))
      }
    } catch {
      // This system, or this family, has no such table.
    }
  }
  return found
}

const MAPPED = '0000000000000000FFFF0000'
/** An IPv4-mapped end in the form of the IPv4 table. */
const plain = (end: string): string => (end.startsWith(MAPPED) ? end.slice(MAPPED.length) : end)

const keyOf = ({ local, peer }: Ends): string => `${endOf(local)} ${endOf(peer)}`

/** The table shows the words of an address in memory order, which is little-endian on all supported machines. */
function endOf({ address, port }: Endpoint): string {
  const parsed = parseAddress(address)
  if (parsed === null) return ''
  const hex = parsed.v4 >= 0 ? parsed.v4.toString(16).padStart(8, '0') : parsed.v6.toString(16).padStart(32, '0')
  const words = hex.match(/.{8}/g) ?? []
  const turned = words.map(word => (word.match(/../g) ?? []).toReversed().join(''))
  return `${turned.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}
