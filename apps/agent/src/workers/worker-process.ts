import type { ChildProcess, SendHandle } from 'node:child_process'
import { borrowed, type ListenHandle, type Listener } from '../net/listen-handle.ts'
import type { Op } from '../state/ops.ts'
import type { Lent } from './backend.ts'
import type { FromWorker, ToWorker, WorkerTold } from './messages.ts'
import { piecesOf } from './pieces.ts'

/** A worker that does not answer in this time is replaced by one that starts from the present state: long enough for a busy machine. */
const ANSWER_TIMEOUT_MS = 10_000
/** From its beginning until it listens. */
export const START_TIMEOUT_MS = 60_000

/** A worker as the managing process has it: what was asked of it, and what it told last. */
export class WorkerProcess {
  readonly child: ChildProcess
  listening = false
  /** It is counted on: asked, and waited for. */
  isLive = false
  /** Resolves when it has taken in whatever was sent so far. */
  fed: Promise<void> = Promise.resolve()
  /** As of the last time that it was asked. */
  connections = 0
  told: WorkerTold | null = null
  readonly #waiting = new Map<number, (message: FromWorker | null) => void>()
  /** Its sockets, on their way to another process. */
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

  /** Asks it; one that stays silent is ended (and replaced), and null is its answer. */
  ask(make: (id: number) => ToWorker): Promise<FromWorker | null> {
    if (!this.isLive) return Promise.resolve(null)
    return new Promise(resolve => {
      const id = this.#nextId++
      // One that is still beginning, on a busy machine, has the time of its start.
      const patience = this.listening ? ANSWER_TIMEOUT_MS : START_TIMEOUT_MS
      const timer = setTimeout(() => this.kill(), patience)
      this.#waiting.set(id, message => {
        clearTimeout(timer)
        resolve(message)
      })
      this.post(make(id))
    })
  }

  /** Takes an answer. */
  answered(message: FromWorker & { id: number }): void {
    this.#waiting.get(message.id)?.(message)
    this.#waiting.delete(message.id)
  }

  /** It is gone: nobody waits for it any more. */
  gone(): void {
    this.isLive = false
    for (const answer of this.#waiting.values()) answer(null)
    this.#waiting.clear()
  }

  /** Brings changes to it after all earlier ones, the next piece when the one before has been taken in. */
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

  /** Takes one of the sockets that were asked for. */
  lends(host: string, port: number, handle: ListenHandle): void {
    this.#lent.push(borrowed(host, port, handle))
  }

  /** The sockets that it listens on, and what is open. */
  async lend(): Promise<Lent> {
    const lent = await this.ask(id => ({ type: 'lend', id }))
    return { listeners: this.#lent.splice(0), open: lent?.type === 'lent' ? lent.open : [] }
  }
}
