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
  /** Tries again what could not be written, so that health tells what is true by now. */
  tryAgain: () => Promise<unknown>
  /** Between two rounds. */
  collectMs: number
}

/** Takes over in rounds what was counted, and saves it from time to time. */
export class Collector {
  readonly #parts: Parts
  #collecting: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #rounds = 0
  /** Nothing is taken: what is counted meanwhile is another process'. */
  #paused = false
  /** All workers answered then; one that stays silent is ended after a while, and the next round goes on without it. */
  collectedAt: number = performance.now()
  /** Of this process. */
  manager: ProcessFigures
  /** Called with each round. */
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

  /** One after the other: who asks gets what an earlier one has not taken over yet, too. */
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

  /** Takes what was counted until now, and nothing more until `start`. */
  async pause(): Promise<void> {
    clearInterval(this.#timer)
    const last = this.collect()
    // Whoever asks after this one gets nothing more.
    this.#collecting = last.catch(() => {}).then(() => void (this.#paused = true))
    await last
    await this.#collecting
  }

  /** Resolves when nothing is being taken any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#collecting.catch(() => {})
  }
}
