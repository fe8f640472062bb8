import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/ops.ts'
import type { Store } from '../state/store.ts'
import type { Backend, Started } from './backend.ts'
import type { WriteLines } from '../log/access-log.ts'
import type { PlaneConfig } from './local.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { piecesOf } from './pieces.ts'
import { WORKER } from './program.ts'

/** The agent's program where it runs from its sources. */
const SOURCE = fileURLToPath(new URL('../main.ts', import.meta.url))
/** A worker that does not answer in this time is replaced by one that starts from the present state. */
const ANSWER_TIMEOUT_MS = 5000
const RESTART_DELAY_MS = 500
/** A worker of an agent that was killed right before may hold the port for a moment. */
const PORT_TRIES = 4
const PORT_WAIT_MS = 250
const MAX_RESTART_DELAY_MS = 30_000
/** From its beginning until it listens. */
const START_TIMEOUT_MS = 60_000

type Worker = {
  child: ChildProcess
  waiting: Map<number, (message: FromWorker | null) => void>
  listening: boolean
  /** Resolves when it has taken in whatever was sent so far. */
  fed: Promise<void>
  /** As of the last time that it was asked. */
  connections: number
}

/** Several serving processes on one shared port. A change counts once each of them applied it. */
export class WorkerPool implements Backend {
  readonly #config: PlaneConfig
  readonly #wanted: number
  readonly #program: string
  readonly #log: WriteLines
  readonly #workers = new Set<Worker>()
  /** Counts that nobody has taken over yet. */
  readonly #rows: TrafficRow[][] = []
  #store: Store | null = null
  #port: number
  #nextId = 1
  #closing = false
  #started = false
  /** Workers in a row that ended before they listened. */
  #failures = 0
  readonly #tell: (message: string) => void

  /** `tell` gets what operators should know. */
  constructor(
    config: PlaneConfig,
    { count, program = SOURCE }: { count: number; program?: string | undefined },
    log: WriteLines,
    tell: (message: string) => void
  ) {
    this.#config = config
    this.#wanted = count
    this.#program = program
    this.#log = log
    this.#tell = tell
    this.#port = config.proxyPort
  }

  async start(store: Store): Promise<Started> {
    this.#store = store
    for (let n = 0; n < this.#wanted; n++) {
      // One after the other: with port 0 the first one's port is everybody's.
      let started = await this.#spawn()
      for (let tries = 1; !started.ok && started.code === 'EADDRINUSE' && tries < PORT_TRIES; tries++) {
        await new Promise(resolve => setTimeout(resolve, PORT_WAIT_MS))
        started = await this.#spawn()
      }
      if (!started.ok) return started
      this.#port = started.port
    }
    this.#started = true
    return { ok: true, port: this.#port }
  }

  async #spawn(): Promise<Started> {
    let child: ChildProcess
    try {
      child = fork(this.#program, [WORKER], { serialization: 'advanced' })
    } catch (error) {
      // No file handle or process left: later there may be.
      this.#lost((error as NodeJS.ErrnoException).code ?? String(error))
      return { ok: false, host: '', code: 'EXITED' }
    }
    const worker: Worker = { child, waiting: new Map(), listening: false, fed: Promise.resolve(), connections: 0 }
    const silent = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS)
    const started = new Promise<Started>(resolve => {
      child.on('message', (message: FromWorker) => {
        if (message.type === 'log') this.#log(message.text, message.lines)
        else if (message.type === 'rows') this.#rows.push(message.rows)
        else if (message.type === 'listening') {
          clearTimeout(silent)
          worker.listening = true
          this.#failures = 0
          resolve({ ok: true, port: message.port })
        } else if (message.type === 'failed') {
          resolve({ ok: false, host: message.host, code: message.code })
          // Of no use as it is; another one may find the port free.
          child.kill('SIGKILL')
        } else {
          if (message.type === 'collected') worker.connections = message.connections
          worker.waiting.get(message.id)?.(message)
          worker.waiting.delete(message.id)
        }
      })
      const ended = (how: string): void => {
        clearTimeout(silent)
        resolve({ ok: false, host: '', code: 'EXITED' })
        this.#exited(worker, how)
      }
      child.on('error', error => {
        // A child that never began has no exit to be told of.
        if (child.pid === undefined) ended((error as NodeJS.ErrnoException).code ?? error.message)
        else child.kill('SIGKILL')
      })
      child.on('exit', (code, signal) => ended(signal ?? `status ${code}`))
    })
    this.#post(worker, { type: 'start', config: { ...this.#config, proxyPort: this.#port } })
    await this.#store?.join(ops => {
      // One that is gone already is not waited for.
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      this.#workers.add(worker)
      void this.#feed(worker, ops).then(() => this.#post(worker, { type: 'listen' }))
    })
    return started
  }

  #exited(worker: Worker, how: string): void {
    this.#workers.delete(worker)
    for (const answer of worker.waiting.values()) answer(null)
    worker.waiting.clear()
    this.#lost(how)
  }

  /** Starts another worker in place of one that is gone: later and later while none of them gets to listen. */
  #lost(how: string): void {
    // A first start that fails is the caller's to tell; later losses are made good.
    if (this.#closing || !this.#started) return
    const delay = Math.min(RESTART_DELAY_MS * 2 ** this.#failures++, MAX_RESTART_DELAY_MS)
    this.#tell(`A worker ended (${how}). Another one is started in ${delay / 1000} seconds.`)
    setTimeout(() => {
      if (!this.#closing) void this.#spawn()
    }, delay).unref()
  }

  #post(worker: Worker, message: ToWorker): void {
    worker.child.send(message, error => {
      if (error !== null) worker.child.kill('SIGKILL')
    })
  }

  /** Asks a worker; one that stays silent is ended (and replaced), and null is its answer. */
  #ask(worker: Worker, make: (id: number) => ToWorker): Promise<FromWorker | null> {
    if (!this.#workers.has(worker)) return Promise.resolve(null)
    return new Promise(resolve => {
      const id = this.#nextId++
      // One that is still beginning, on a busy machine, has the time of its start.
      const patience = worker.listening ? ANSWER_TIMEOUT_MS : START_TIMEOUT_MS
      const timer = setTimeout(() => worker.child.kill('SIGKILL'), patience)
      worker.waiting.set(id, message => {
        clearTimeout(timer)
        resolve(message)
      })
      this.#post(worker, make(id))
    })
  }

  async #askAll(make: (id: number) => ToWorker): Promise<void> {
    await Promise.all(Array.from(this.#workers, worker => this.#ask(worker, make)))
  }

  /** Brings changes to a worker after all earlier ones, the next piece when the one before has been taken in. */
  #feed(worker: Worker, ops: readonly Op[]): Promise<void> {
    const before = worker.fed
    const feed = async (): Promise<void> => {
      await before
      for (const piece of piecesOf(ops)) {
        if ((await this.#ask(worker, id => ({ ...piece, id }))) === null) return
      }
    }
    return (worker.fed = feed())
  }

  async publish(ops: Op[]): Promise<void> {
    await Promise.all(Array.from(this.#workers, worker => this.#feed(worker, ops)))
  }

  async collect(): Promise<TrafficRow[][]> {
    await this.#askAll(id => ({ type: 'collect', id }))
    return this.#rows.splice(0)
  }

  connections(): number {
    return [...this.#workers].reduce((sum, worker) => sum + worker.connections, 0)
  }

  reload(): void {
    for (const worker of this.#workers) this.#post(worker, { type: 'reload' })
  }

  serving(): { now: number; wanted: number } {
    return { now: [...this.#workers].filter(worker => worker.listening).length, wanted: this.#wanted }
  }

  async close(): Promise<TrafficRow[][]> {
    this.#closing = true
    await this.#askAll(id => ({ type: 'stop', id }))
    const workers = [...this.#workers]
    await Promise.all(
      workers.map(({ child }) => {
        const exited = new Promise(resolve => child.once('exit', resolve))
        // A worker ends by itself once it cannot hear of changes any more.
        child.disconnect()
        return exited
      })
    )
    return this.#rows.splice(0)
  }
}
