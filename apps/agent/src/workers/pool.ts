import type { AgentCode } from '@netlet/contract/agent-codes'
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Pem } from '../certificate.ts'
import type { ListenHandle, Listener } from '../net/listen-handle.ts'
import { withOriginalPriority } from '../main-process.ts'
import type { Shares } from '../proxy/connection-limits.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/definitions.ts'
import type { Store } from '../state/store.ts'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import { joinParts, type LivePart } from '../proxy/live-connections.ts'
import { addFigures, noFigures, type PlaneFigures } from '../proxy/plane-figures.ts'
import type { Backend, BackendFigures, Lent, Started } from './backend.ts'
import type { WriteLines } from '../log/access-log.ts'
import type { PlaneConfig } from './local.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { WORKER } from './program.ts'
import { joinShares, SharedCounts } from './shared-counts.ts'
import { START_TIMEOUT_MS, WorkerProcess } from './worker-process.ts'

/** The agent's program when it runs from sources. */
const SOURCE = fileURLToPath(new URL('../main.ts', import.meta.url))
/**
 * Size of V8's semi-space, in MB. By default each storm of tunnels let the young generation grow, to three times the rest of the
 * memory, and V8 kept it.
 */
const YOUNG_GENERATION = '--max-semi-space-size=4'
const MAX_RESTART_DELAY_MS = 30_000
const MAX_SIGNS = 1000
/** How long workers' counts are gathered before the others get them. */
const TELL_MS = 10

/** A starting worker. `fed`: it has the state (null: it never started). `started`: it listens, or is gone. */
type Begun = { fed: Promise<WorkerProcess | null>; started: Promise<Started> }

/** Several serving processes on one port. A change is acknowledged once each has applied it. */
export class WorkerPool implements Backend {
  #config: PlaneConfig
  readonly #wanted: number
  readonly #program: string
  readonly #restartMs: number
  readonly #log: WriteLines
  readonly #workers = new Set<WorkerProcess>()
  /** Counters not collected yet. */
  readonly #rows: TrafficRow[][] = []
  #store: Store | null = null
  #port: number
  #closing = false
  #started = false
  /** Ended workers are not replaced. */
  #draining = false
  /** Workers with the state that do not listen yet. */
  #prepared: Begun[] = []
  /** Workers share a predecessor's sockets. No further socket can be opened beside them. */
  #borrows = false
  readonly #counts = new SharedCounts<WorkerProcess>()
  /** Another generation has connections too. */
  #isTogether = false
  #telling: NodeJS.Timeout | null = null
  #spent: string[] = []
  /** Workers in a row that ended before they listened. */
  #failures = 0
  #restarts = 0
  #signs: AbuseSign[] = []
  /** Counters of workers that are gone. */
  readonly #gone: PlaneFigures = noFigures()
  readonly #tell: (message: string) => void

  /** @param tell receives messages for operators */
  constructor(
    config: PlaneConfig,
    { count, program = SOURCE, restartMs }: { count: number; program?: string | undefined; restartMs: number },
    log: WriteLines,
    tell: (message: string) => void
  ) {
    this.#config = config
    this.#wanted = count
    this.#program = program
    this.#restartMs = restartMs
    this.#log = log
    this.#tell = tell
    this.#port = config.proxyPort
  }

  async start(store: Store): Promise<Started> {
    this.#store = store
    for (let n = 0; n < this.#wanted; n++) {
      // One after another: with port 0 all use the first one's port.
      const started = await this.#spawn()
      if (!started.ok) return started
      this.#port = started.port
    }
    return this.#begun()
  }

  async prepare(store: Store): Promise<boolean> {
    this.#store = store
    this.#prepared = Array.from({ length: this.#wanted }, () => this.#begin(false))
    const fed = await Promise.all(this.#prepared.map(begun => begun.fed))
    return fed.every(worker => worker?.isLive === true)
  }

  async listen(opened: Listener[]): Promise<Started> {
    const [first] = opened
    if (first !== undefined && this.#config.proxyPort === 0) this.#port = first.port
    const perHost = Map.groupBy(opened, ({ host }) => host)
    this.#borrows = [...perHost.values()].some(({ length }) => length < this.#wanted)
    const answers = this.#prepared.map(async ({ fed, started }, n): Promise<Started> => {
      const worker = await fed
      if (worker === null) return started
      // Each worker gets its part of the sockets. If there are fewer sockets than workers, some share one.
      const own = [...perHost.values()].flatMap(sockets =>
        sockets.filter((_, at) => at % this.#wanted === n % Math.max(1, Math.min(sockets.length, this.#wanted)))
      )
      this.#listen(worker, own)
      return started
    })
    const started = await Promise.all(answers)
    for (const listener of opened) listener.done()
    const failed = started.find(one => !one.ok)
    if (failed !== undefined) return failed
    return this.#begun()
  }

  /** All listen. Ended workers are replaced from now on, even those that ended before. */
  #begun(): Started {
    this.#started = true
    for (let n = this.#workers.size; n < this.#wanted; n++) this.#lost('while others began')
    return { ok: true, port: this.#port }
  }

  async lend(): Promise<Lent> {
    const lent = await Promise.all(Array.from(this.#workers, worker => worker.lend()))
    const { open } = joinShares(lent.map(one => ({ open: one.open, speeds: [] })))
    return { listeners: lent.flatMap(({ listeners }) => listeners), open }
  }

  async drain(): Promise<void> {
    this.#draining = true
    await this.#askAll(id => ({ type: 'drain', id }))
  }

  shares(): Shares {
    return this.#counts.own
  }

  share(shares: Shares, isTogether: boolean): void {
    const isNew = isTogether !== this.#isTogether
    this.#isTogether = isTogether
    this.#counts.setOthers(shares)
    if (isNew) for (const worker of this.#workers) worker.post({ type: 'elsewhere', open: [], isTogether })
    this.#tellCounts(false)
    this.#tellSpeeds()
  }

  async #spawn(): Promise<Started> {
    const { fed, started } = this.#begin(true)
    const worker = await fed
    if (worker === null) return started
    const [other] = this.#borrows ? [...this.#workers].filter(one => one.listening) : []
    const lent = other === undefined ? [] : (await other.lend()).listeners
    this.#listen(worker, lent)
    // Closed only after they were sent.
    void started.then(() => lent.forEach(listener => listener.done()))
    return started
  }

  /** @param isHurried whether it must listen within a time limit */
  #begin(isHurried: boolean): Begun {
    let child: ChildProcess
    try {
      child = withOriginalPriority(() =>
        fork(this.#program, [WORKER], {
          serialization: 'advanced',
          execArgv: [...process.execArgv, YOUNG_GENERATION]
        })
      )
    } catch (error) {
      // No file handle or process is free, so a later attempt may work.
      this.#lost((error as NodeJS.ErrnoException).code ?? String(error))
      return { fed: Promise.resolve(null), started: Promise.resolve({ ok: false, host: '', code: 'EXITED' }) }
    }
    const worker = new WorkerProcess(child)
    const silent = isHurried ? setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS) : undefined
    const started = new Promise<Started>(resolve => {
      child.on('message', (message: FromWorker, handle?: unknown) => {
        if (message.type === 'log') this.#log(message.text, message.lines)
        else if (message.type === 'tell') this.#tell(message.text)
        else if (message.type === 'rows') this.#rows.push(message.rows)
        else if (message.type === 'listener') {
          const { host, port } = message
          if (handle !== undefined) worker.lends(host, port, handle as ListenHandle)
        } else if (message.type === 'open') {
          this.#counts.tell(worker, message.open)
          // Waits shortly, because other workers may report the same key.
          this.#telling ??= setTimeout(() => this.#tellCounts(false), TELL_MS).unref()
        } else if (message.type === 'listening') {
          clearTimeout(silent)
          worker.listening = true
          this.#failures = 0
          if (message.warning !== null) this.#tell(message.warning)
          resolve({ ok: true, port: message.port })
        } else if (message.type === 'failed') {
          resolve({ ok: false, host: message.host, code: message.code })
          // Another worker may find the port free.
          child.kill('SIGKILL')
        } else {
          if (message.type === 'collected') {
            worker.connections = message.connections
            worker.report = message.report
            // A screen shows no more of them.
            this.#signs = [...this.#signs, ...message.report.signs].slice(-MAX_SIGNS)
            this.#counts.tellSpeeds(worker, message.speeds)
          }
          worker.answered(message)
        }
      })
      const ended = (how: string): void => {
        clearTimeout(silent)
        resolve({ ok: false, host: '', code: 'EXITED' })
        this.#exited(worker, how)
      }
      child.on('error', error => {
        // A child that never started has no exit event.
        if (child.pid === undefined) ended((error as NodeJS.ErrnoException).code ?? error.message)
        else child.kill('SIGKILL')
      })
      child.on('exit', (code, signal) => ended(signal ?? `status ${code}`))
    })
    // A child that could not start has no channel.
    if (child.pid === undefined) return { fed: Promise.resolve(null), started }
    worker.post({ type: 'start', config: { ...this.#config, proxyPort: this.#port } })
    const join = async (): Promise<WorkerProcess | null> => {
      await this.#store?.join(ops => {
        // It may have ended while it waited for its turn.
        if (worker.hasEnded) return
        this.#workers.add(worker)
        this.#counts.join(worker)
        worker.isLive = true
        void worker.feed(ops)
      })
      await worker.fed
      return worker.isLive ? worker : null
    }
    return { fed: join(), started }
  }

  #listen(worker: WorkerProcess, opened: readonly Listener[]): void {
    // Another process took the port after this worker began.
    if (this.#draining) return worker.kill()
    for (const { host, port, handle } of opened) worker.post({ type: 'listener', host, port }, handle)
    worker.post({ type: 'spent', users: this.#spent })
    // The worker must know before it accepts the first connection.
    worker.post({ type: 'elsewhere', open: [], isTogether: this.#isTogether })
    this.#tellCounts(false)
    worker.post({ type: 'listen' })
  }

  #exited(worker: WorkerProcess, how: string): void {
    if (this.#workers.delete(worker) && worker.report !== null) addFigures(this.#gone, worker.report.plane, false)
    worker.gone()
    this.#counts.leave(worker)
    this.#tellCounts(false)
    this.#lost(how)
  }

  /** Replaces an ended worker, with a growing delay while none starts to listen. */
  #lost(how: string): void {
    // The caller reports a failed first start. Later losses are replaced here.
    if (this.#closing || this.#draining || !this.#started) return
    this.#restarts++
    const delay = Math.min(this.#restartMs * 2 ** this.#failures++, MAX_RESTART_DELAY_MS)
    this.#tell(`A worker ended (${how}). Another one is started in ${delay / 1000} seconds.`)
    setTimeout(() => {
      if (!this.#closing && !this.#draining) void this.#spawn()
    }, delay).unref()
  }

  #askAll(make: (id: number) => ToWorker): Promise<Array<FromWorker | null>> {
    return Promise.all(Array.from(this.#workers, worker => worker.ask(make)))
  }

  async publish(ops: Op[]): Promise<void> {
    await Promise.all(Array.from(this.#workers, worker => worker.feed(ops)))
  }

  async collect(): Promise<TrafficRow[][]> {
    await this.#askAll(id => ({ type: 'collect', id }))
    this.#tellCounts(true)
    this.#tellSpeeds()
    return this.#rows.splice(0)
  }

  /** Sends workers the others' counts. @param again repeats counts that are too many */
  #tellCounts(again: boolean): void {
    if (this.#telling !== null) clearTimeout(this.#telling)
    this.#telling = null
    for (const [worker, open] of this.#counts.changes(again))
      worker.post({ type: 'elsewhere', open, isTogether: this.#isTogether })
  }

  #tellSpeeds(): void {
    for (const [worker, speeds] of this.#counts.speeds()) worker.post({ type: 'speeds', speeds })
  }

  setSpent(users: string[]): void {
    this.#spent = users
    for (const worker of this.#workers) worker.post({ type: 'spent', users })
  }

  connections(): number {
    return [...this.#workers].reduce((sum, worker) => sum + worker.connections, 0)
  }

  figures(): BackendFigures {
    const plane = addFigures(noFigures(), this.#gone, false)
    const report = [...this.#workers].flatMap(worker => worker.report ?? [])
    for (const { plane: own } of report) addFigures(plane, own, true)
    return { plane, processes: report.map(one => one.process), restarts: this.#restarts }
  }

  async look(user: string | null, limit: number): Promise<LivePart> {
    const answers = await this.#askAll(id => ({ type: 'look', id, user, limit }))
    const parts = answers.flatMap(answer => (answer?.type === 'looked' ? [answer.part] : []))
    return joinParts(parts, limit)
  }

  async end(user: string, connection: string | null): Promise<number> {
    const answers = await this.#askAll(id => ({ type: 'end', id, user, connection }))
    return answers.reduce((sum, answer) => sum + (answer?.type === 'ended' ? answer.ended : 0), 0)
  }

  signs(): AbuseSign[] {
    const signs = this.#signs
    this.#signs = []
    return signs
  }

  secure(pem: Pem | null): void {
    // Kept for later workers too.
    this.#config = { ...this.#config, certificate: pem }
    for (const worker of this.#workers) worker.post({ type: 'certificate', pem })
  }

  reload(): void {
    for (const worker of this.#workers) worker.post({ type: 'reload' })
  }

  serving(): { now: number; wanted: number } {
    return { now: [...this.#workers].filter(worker => worker.listening).length, wanted: this.#wanted }
  }

  async close(note: AgentCode | null = null): Promise<TrafficRow[][]> {
    this.#closing = true
    await this.#askAll(id => ({ type: 'stop', id, note }))
    const workers = [...this.#workers]
    await Promise.all(
      workers.map(({ child }) => {
        const exited = new Promise(resolve => child.once('exit', resolve))
        // A worker ends by itself when the channel closes.
        child.disconnect()
        return exited
      })
    )
    return this.#rows.splice(0)
  }
}
