import type { Logger } from 'pino'
import type { TrafficRow } from './proxy/traffic-meter.ts'
import type { Alarms } from './state/alarms.ts'
import type { TrafficTotals } from './state/traffic.ts'
import type { Backend } from './workers/backend.ts'
import type { ProcessFigures, ProcessMeter } from './workers/process-figures.ts'
import { nextTurn } from './turns.ts'

const SAVE_EVERY = 10

type Parts = {
  backend: () => Backend | null
  totals: TrafficTotals
  alarms: Alarms
  meter: ProcessMeter
  log: Logger
  /** Retries failed writes, so that health shows the present state. */
  tryAgain: () => Promise<unknown>
  /** Interval between rounds. */
  collectMs: number
}

/** Collects the workers' counters in rounds, and saves them from time to time. */
export class Collector {
  readonly #parts: Parts
  #collecting: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #rounds = 0
  /** Another process counts now, so rounds collect nothing. */
  #paused = false
  /** When all workers last answered. A silent worker is ended after a while; later rounds go on without it. */
  collectedAt: number = performance.now()
  /** Figures of this process. */
  manager: ProcessFigures
  /** Called after each round. */
  collected: () => void = () => {}

  constructor(parts: Parts, manager: ProcessFigures) {
    this.#parts = parts
    this.manager = manager
  }

  async take(pieces: Iterable<TrafficRow[]>): Promise<void> {
    const { totals, backend } = this.#parts
    for (const rows of pieces) {
      totals.add(rows)
      await nextTurn()
    }
    const spent = totals.takeSpent()
    if (spent !== null) backend()?.setSpent(spent)
  }

  async #collectNow(): Promise<void> {
    const { backend, alarms, meter } = this.#parts
    if (!this.#paused) await this.take((await backend()?.collect()) ?? [])
    alarms.add(backend()?.signs() ?? [])
    this.manager = await meter.read()
    this.collected()
  }

  /** Rounds run one after another. Resolves when everything counted so far is in the totals. */
  collect(): Promise<void> {
    return (this.#collecting = this.#collecting.catch(() => {}).then(() => this.#collectNow()))
  }

  start(): void {
    const { totals, tryAgain, log, collectMs } = this.#parts
    this.#paused = false
    this.collectedAt = performance.now()
    this.#timer = setInterval(() => {
      void this.collect()
        .then(() => (this.collectedAt = performance.now()))
        .then(() => (++this.#rounds % SAVE_EVERY === 0 ? tryAgain().then(() => totals.saveSometimes()) : undefined))
        .catch((error: unknown) => log.error({ err: error }, 'Traffic figures could not be saved.'))
    }, collectMs)
  }

  /** Collects what was counted so far, then nothing until `start`. */
  async pause(): Promise<void> {
    clearInterval(this.#timer)
    const last = this.collect()
    // Set in the queue, so that all later rounds collect nothing.
    this.#collecting = last.catch(() => {}).then(() => void (this.#paused = true))
    await last
    await this.#collecting
  }

  /** Resolves when no round runs any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#collecting.catch(() => {})
  }
}
