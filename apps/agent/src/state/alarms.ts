import type { AgentAlarm } from '@netlet/contract/agent-live'
import type { AbuseSign } from '../proxy/abuse-watch.ts'

/** Signs closer together than this belong to one alarm. */
const GAP_MS = 10 * 60_000
/** How long an alarm is listed after its last sign. */
const KEEP_MS = 60 * 60_000
const MAX_ALARMS = 200

type Alarm = {
  kind: AgentAlarm['kind']
  user: string
  subject: string
  count: number
  /** Wall-clock times, for display. */
  since: number
  last: number
  /** Monotonic time of the last sign, which decides the alarm's age. */
  seen: number
}

/** Alarms from the workers' signs, one for each user and kind. Not saved: after a restart, continuing abuse is detected again. */
export class Alarms {
  readonly #alarms = new Map<string, Alarm>()
  readonly #now: () => number
  readonly #passed: () => number

  /** @param passed monotonic milliseconds */
  constructor(now: () => number, passed: () => number = () => performance.now()) {
    this.#now = now
    this.#passed = passed
  }

  add(signs: readonly AbuseSign[]): void {
    const now = this.#now()
    const seen = this.#passed()
    for (const { kind, user, subject, count } of signs) {
      const key = `${kind} ${user}`
      const before = this.#alarms.get(key)
      this.#alarms.delete(key)
      const goesOn = before !== undefined && seen - before.seen < GAP_MS
      const worst = goesOn ? Math.max(before.count, count) : count
      // Newest last, so that the oldest alarm is dropped if there are too many.
      const since = goesOn ? before.since : now
      this.#alarms.set(key, { kind, user, subject, count: worst, since, last: now, seen })
    }
    for (const [key, alarm] of this.#alarms) {
      if (seen - alarm.seen < KEEP_MS && this.#alarms.size <= MAX_ALARMS) break
      this.#alarms.delete(key)
    }
  }

  /** Newest first. */
  list(): AgentAlarm[] {
    const passed = this.#passed()
    return [...this.#alarms.values()]
      .filter(({ seen }) => passed - seen < KEEP_MS)
      .map(({ since, last, seen: _seen, ...alarm }) => ({
        ...alarm,
        since: new Date(since).toISOString(),
        last: new Date(last).toISOString()
      }))
      .toReversed()
  }
}

/** Refusals by reason since the start of the day (UTC), from counters that rise while the agent runs. */
export class RefusalsOfDay {
  readonly #now: () => number
  #day = ''
  #since: string
  #before: Record<string, number> = {}

  constructor(now: () => number) {
    this.#now = now
    this.#since = new Date(now()).toISOString()
    this.#day = this.#since.slice(0, 10)
  }

  /** Must be called regularly, so that each day starts at its own counters. */
  read(outcomes: Record<string, number>): { refusals: Record<string, number>; refusals_since: string } {
    const day = new Date(this.#now()).toISOString().slice(0, 10)
    if (day !== this.#day) {
      this.#day = day
      this.#since = `${day}T00:00:00.000Z`
      this.#before = { ...outcomes }
    }
    const refusals = Object.entries(outcomes)
      .map(([note, count]) => [note, Math.max(0, count - (this.#before[note] ?? 0))] as const)
      .filter(([note, count]) => note !== 'ok' && count > 0)
    return { refusals: Object.fromEntries(refusals), refusals_since: this.#since }
  }
}
