import type { ChildProcess, SendHandle } from 'node:child_process'
import { borrowed, type ListenHandle, type Listener } from '../net/listen-handle.ts'
import type { Op } from '../state/definitions.ts'
import type { Lent } from './backend.ts'
import type { FromWorker, ToWorker, WorkerReport } from './messages.ts'
import { packRanges, prefixesOf } from '../net/ip.ts'
import { BLACKLIST } from '../proxy/access-table.ts'

/** Size of one message: less than a millisecond of a worker's work. */
const ENTRIES = 1000
const OPS = 100
const PREFIXES = 1000

type Piece = { type: 'ops'; ops: Op[] } | { type: 'entries'; list: string; entries: string[] }

/** Splits changes into small messages to a worker, so that tunnels proceed between them. */
export function* piecesOf(ops: readonly Op[]): Generator<Piece> {
  let batch: Op[] = []
  let prefixes = 0
  for (const op of ops) {
    let small = op
    if ((op.op === 'deny-set' || op.op === 'blacklist') && op.domains !== null) {
      const list = op.op === 'deny-set' ? op.hash : BLACKLIST
      let entries: string[] = []
      for (const entry of op.domains) {
        if (entries.length === ENTRIES) {
          yield { type: 'entries', list, entries }
          entries = []
        }
        entries.push(entry)
      }
      small = { ...op, domains: entries }
    } else if (weightOf(op) > PREFIXES) small = packed(op)
    batch.push(small)
    prefixes += weightOf(small)
    if (batch.length < OPS && prefixes < PREFIXES) continue
    yield { type: 'ops', ops: batch }
    batch = []
    prefixes = 0
  }
  if (batch.length > 0) yield { type: 'ops', ops: batch }
}

/** Roughly how many prefixes or entries the worker must parse. */
function weightOf(op: Op): number {
  if (op.op === 'user') return (op.record?.prefixes.length ?? 0) + (op.record?.allowedClientIps.length ?? 0)
  return op.op === 'prefixes' ? op.prefixes.length : (op.domains?.length ?? 0)
}

/** Packs long lists of prefixes. Wide prefixes stay as text, because the worker counts them separately. */
function packed(op: Op): Op {
  if (op.op === 'prefixes') return { ...op, prefixes: [], packed: packRanges(prefixesOf(op.prefixes)) }
  if (op.op !== 'user' || op.record === null) return op
  const all = prefixesOf(op.record.prefixes)
  const wide = all.filter(prefix => prefix.last - prefix.first >= 65_536n).map(prefix => prefix.text)
  const clients = packRanges(prefixesOf(op.record.allowedClientIps))
  // Clients without a password are looked up by prefix, and are few. Otherwise one entry shows that the list is not empty.
  const kept = op.record.access === 'address' ? op.record.allowedClientIps : op.record.allowedClientIps.slice(0, 1)
  const record = { ...op.record, prefixes: wide, allowedClientIps: kept }
  return { ...op, record, packed: { addresses: packRanges(all), clients } }
}

/** A worker that does not answer in this time is killed and replaced. Long enough for a busy machine. */
const ANSWER_TIMEOUT_MS = 10_000
/** From its start until it listens. */
export const START_TIMEOUT_MS = 60_000

/** The managing process' view of a worker: open questions and the last report. */
export class WorkerProcess {
  readonly child: ChildProcess
  listening = false
  /** It has joined, so it is asked and waited for. */
  isLive = false
  /** Resolves when it has applied everything sent so far. */
  fed: Promise<void> = Promise.resolve()
  /** From the last report. */
  connections = 0
  report: WorkerReport | null = null
  readonly #waiting = new Map<number, (message: FromWorker | null) => void>()
  /** Its sockets, for another process. */
  #lent: Listener[] = []
  #nextId = 1

  constructor(child: ChildProcess) {
    this.child = child
  }

  get hasEnded(): boolean {
    const { exitCode, signalCode, pid } = this.child
    return exitCode !== null || signalCode !== null || pid === undefined
  }

  post(message: ToWorker, handle?: ListenHandle): void {
    this.child.send(message, handle as SendHandle | undefined, error => {
      if (error !== null) this.kill()
    })
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  /** Asks the worker. If it stays silent, it is killed and replaced. Null: it is gone. */
  ask(make: (id: number) => ToWorker): Promise<FromWorker | null> {
    if (!this.isLive) return Promise.resolve(null)
    return new Promise(resolve => {
      const id = this.#nextId++
      // A worker that is starting on a busy machine gets the time of a start.
      const patience = this.listening ? ANSWER_TIMEOUT_MS : START_TIMEOUT_MS
      const timer = setTimeout(() => this.kill(), patience)
      this.#waiting.set(id, message => {
        clearTimeout(timer)
        resolve(message)
      })
      this.post(make(id))
    })
  }

  answered(message: FromWorker & { id: number }): void {
    this.#waiting.get(message.id)?.(message)
    this.#waiting.delete(message.id)
  }

  /** The worker is gone. All open questions get null. */
  gone(): void {
    this.isLive = false
    for (const answer of this.#waiting.values()) answer(null)
    this.#waiting.clear()
  }

  /** Sends changes after all earlier ones, a piece at a time: the next one follows when the worker has applied the last. */
  feed(ops: readonly Op[]): Promise<void> {
    const before = this.fed
    const feed = async (): Promise<void> => {
      await before
      for (const piece of piecesOf(ops)) {
        if ((await this.ask(id => ({ ...piece, id }))) === null) return
      }
    }
    return (this.fed = feed())
  }

  /** Receives one of the sockets asked for. */
  lends(host: string, port: number, handle: ListenHandle): void {
    this.#lent.push(borrowed(host, port, handle))
  }

  /** Its listening sockets and open connections. */
  async lend(): Promise<Lent> {
    const lent = await this.ask(id => ({ type: 'lend', id }))
    return { listeners: this.#lent.splice(0), open: lent?.type === 'lent' ? lent.open : [] }
  }
}
