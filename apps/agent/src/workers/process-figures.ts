import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** File handles beyond those of connections: the runtime's own, files, listeners, name servers. */
const OTHER_HANDLES = 100
/** One for the client, one for the target. */
const HANDLES_EACH = 2

/**
 * Limits a process' connections by its file handles: without a free one, the process could not even accept the connection that
 * replaces an older one. `warning` is for operators.
 * @param wanted connections of each process
 * @param handles limit of a process; 0: unknown
 */
export function connectionsWithin(wanted: number, handles: number): { connections: number; warning: string | null } {
  const most = Math.max(1, Math.floor((handles - OTHER_HANDLES) / HANDLES_EACH))
  if (handles === 0 || wanted <= most) return { connections: wanted, warning: null }
  const needed = wanted * HANDLES_EACH + OTHER_HANDLES
  return {
    connections: most,
    warning: `Each serving process takes ${most} connections at most, not ${wanted} as set: it may have ${handles} file handles. Set LimitNOFILE (ulimit -n) to ${needed}.`
  }
}

/** Figures of one process: delay of its loop in the last seconds (milliseconds), and file handles (0: unknown). */
export type ProcessFigures = {
  pid: number
  delay: { median: number; p99: number; longest: number }
  /** It was late in several windows in a row, so the load is lasting. */
  isSlow: boolean
  handles: { used: number; limit: number }
}

const RESOLUTION_MS = 10
/** Delays are measured over at most this window. */
const WINDOW_MS = 10_000
/** Slow: one turn in a hundred is this late, in this many windows in a row. */
const SLOW_MS = 200
const SLOW_WINDOWS = 3
/** Older kernels do not report the number of handles. Listing them is expensive, so it is rare. */
const COUNT_EVERY_MS = 60_000

/** Measures this process. A reading costs some microseconds, even with many connections. */
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

/** The limit of file handles for this process and its children. 0: unknown. */
export function handleLimit(): number {
  try {
    const [, soft = '0'] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(soft)
  } catch {
    return 0
  }
}
