import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/ops.ts'
import type { Store } from '../state/store.ts'
import type { Backend, Started } from './backend.ts'
import type { WriteLines } from '../log/access-log.ts'
import type { PlaneConfig } from './local.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** A worker that does not answer in this time is replaced by one that starts from the present state. */
const ANSWER_TIMEOUT_MS = 5000
const RESTART_DELAY_MS = 500

type Worker = { child: ChildProcess; waiting: Map<number, (message: FromWorker | null) => void>; listening: boolean }

/** Several serving processes on one shared port. A change counts once each of them applied it. */
export class WorkerPool implements Backend {
  readonly #config: PlaneConfig
  readonly #wanted: number
  readonly #log: WriteLines
  readonly #workers = new Set<Worker>()
  #store: Store | null = null
  #port: number
  #nextId = 1
  #closing = false

  constructor(config: PlaneConfig, wanted: number, log: WriteLines) {
    this.#config = config
    this.#wanted = wanted
    this.#log = log
    this.#port = config.proxyPort
  }

  async start(store: Store): Promise<Started> {
    this.#store = store
    for (let n = 0; n < this.#wanted; n++) {
      // One after the other: with port 0 the first one's port is everybody's.
      const started = await this.#spawn()
      if (!started.ok) return started
      this.#port = started.port
    }
    return { ok: true, port: this.#port }
  }

  async #spawn(): Promise<Started> {
    const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [], { serialization: 'advanced' })
    const worker: Worker = { child, waiting: new Map(), listening: false }
    const started = new Promise<Started>(resolve => {
      child.on('message', (message: FromWorker) => {
        if (message.type === 'log') this.#log(message.text, message.lines)
        else if (message.type === 'listening') {
          worker.listening = true
          resolve({ ok: true, port: message.port })
        } else if (message.type === 'failed') resolve({ ok: false, host: message.host, code: message.code })
        else {
          worker.waiting.get(message.id)?.(message)
          worker.waiting.delete(message.id)
        }
      })
      child.on('error', () => child.kill('SIGKILL'))
      child.on('exit', () => {
        resolve({ ok: false, host: '', code: 'EXITED' })
        this.#exited(worker)
      })
    })
    this.#post(worker, { type: 'start', config: { ...this.#config, proxyPort: this.#port } })
    await this.#store?.join(ops => {
      this.#workers.add(worker)
      this.#post(worker, { type: 'ops', id: 0, ops })
    })
    return started
  }

  #exited(worker: Worker): void {
    this.#workers.delete(worker)
    for (const answer of worker.waiting.values()) answer(null)
    worker.waiting.clear()
    // A first start that fails is the caller's to tell; later losses are made good.
    if (this.#closing || !worker.listening) return
    setTimeout(() => {
      if (!this.#closing) void this.#spawn()
    }, RESTART_DELAY_MS).unref()
  }

  #post(worker: Worker, message: ToWorker): void {
    worker.child.send(message, error => {
      if (error !== null) worker.child.kill('SIGKILL')
    })
  }

  /** Asks every worker and waits for the answers; one that stays silent is ended (and replaced). */
  async #askAll(make: (id: number) => ToWorker): Promise<FromWorker[]> {
    const answers = await Promise.all(
      [...this.#workers].map(
        worker =>
          new Promise<FromWorker | null>(resolve => {
            const id = this.#nextId++
            const timer = setTimeout(() => worker.child.kill('SIGKILL'), ANSWER_TIMEOUT_MS)
            worker.waiting.set(id, message => {
              clearTimeout(timer)
              resolve(message)
            })
            this.#post(worker, make(id))
          })
      )
    )
    return answers.filter(answer => answer !== null)
  }

  async publish(ops: Op[]): Promise<void> {
    await this.#askAll(id => ({ type: 'ops', id, ops }))
  }

  collect(): Promise<TrafficRow[]> {
    return this.#rows('collect')
  }

  async #rows(type: 'collect' | 'stop'): Promise<TrafficRow[]> {
    const answers = await this.#askAll(id => ({ type, id }))
    return answers.flatMap(answer => (answer.type === 'collected' ? answer.rows : []))
  }

  reload(): void {
    for (const worker of this.#workers) this.#post(worker, { type: 'reload' })
  }

  serving(): { now: number; wanted: number } {
    return { now: [...this.#workers].filter(worker => worker.listening).length, wanted: this.#wanted }
  }

  async close(): Promise<TrafficRow[]> {
    this.#closing = true
    const rows = await this.#rows('stop')
    const workers = [...this.#workers]
    await Promise.all(
      workers.map(({ child }) => {
        const exited = new Promise(resolve => child.once('exit', resolve))
        // A worker ends by itself once it cannot hear of changes any more.
        child.disconnect()
        return exited
      })
    )
    return rows
  }
}
