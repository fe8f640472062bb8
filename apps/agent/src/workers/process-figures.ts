import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Of one process: how late its loop was in the last seconds (milliseconds), and its file handles (0: not known here). */
export type ProcessFigures = {
  pid: number
  delay: { median: number; p99: number; longest: number }
  /** It was late in several windows in a row: no passing load. */
  isSlow: boolean
  handles: { used: number; limit: number }
}

const RESOLUTION_MS = 10
/** The delays are those of the last so many milliseconds at most. */
const WINDOW_MS = 10_000
/** So late for one turn in a hundred, in so many windows in a row, is too slow. */
const SLOW_MS = 200
const SLOW_WINDOWS = 3
/** Older kernels do not tell how many handles there are: they are counted, and not often. */
const COUNT_EVERY_MS = 60_000

/** Measures this process. A look costs some microseconds, however many connections are open. */
export class ProcessMeter {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #limit = handleLimit()
  #since = performance.now()
  #slowWindows = 0
  #counted = { at: -Infinity, used: 0 }

  constructor() {
    this.#histogram.enable()
  }

  async read(): Promise<ProcessFigures> {
    const ms = (nanoseconds: number): number => Math.max(0, Math.round(nanoseconds / 1e4) / 100 - RESOLUTION_MS)
    const histogram = this.#histogram
    const delay =
      histogram.count === 0
        ? { median: 0, p99: 0, longest: 0 }
        : { median: ms(histogram.percentile(50)), p99: ms(histogram.percentile(99)), longest: ms(histogram.max) }
    if (performance.now() - this.#since > WINDOW_MS) {
      this.#since = performance.now()
      this.#slowWindows = delay.p99 > SLOW_MS ? this.#slowWindows + 1 : 0
      histogram.reset()
    }
    return {
      pid: process.pid,
      delay,
      isSlow: this.#slowWindows >= SLOW_WINDOWS,
      handles: { used: await this.#handles(), limit: this.#limit }
    }
  }

  async #handles(): Promise<number> {
    try {
      const { size } = await stat('/proc/self/fd')
      if (size > 0) return size
      if (performance.now() - this.#counted.at < COUNT_EVERY_MS) return this.#counted.used
      this.#counted = { at: performance.now(), used: (await readdir('/proc/self/fd')).length }
      return this.#counted.used
    } catch {
      return 0
    }
  }

  close(): void {
    this.#histogram.disable()
  }
}

/** How many file handles this process may have, and those that it starts; 0: not known here. */
export function handleLimit(): number {
  try {
    const [, soft = '0'] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(soft)
  } catch {
    return 0
  }
}
