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
