import type { ChildProcess, SendHandle } from 'node:child_process'
import { borrowed, type ListenHandle, type Listener } from '../net/listen-handle.ts'
import type { Op } from '../state/ops.ts'
import type { Lent } from './backend.ts'
import type { FromWorker, ToWorker, WorkerTold } from './messages.ts'
import { piecesOf } from './pieces.ts'

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
  told: WorkerTold | null = null
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
