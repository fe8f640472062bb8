import type { AgentAlarm } from '@netlet/contract/agent-live'
import type { AbuseSign } from '../proxy/abuse-watch.ts'

/** Signs with less between them are one alarm that goes on. */
const GAP_MS = 10 * 60_000
/** How long an alarm is told after its last sign. */
const KEEP_MS = 60 * 60_000
const MAX_ALARMS = 200

type Alarm = { kind: AgentAlarm['kind']; user: string; subject: string; count: number; since: number; last: number }

/** What the workers noticed, one alarm for each user and kind. Not kept over a restart: what goes on is noticed again. */
export class Alarms {
  readonly #alarms = new Map<string, Alarm>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  add(signs: readonly AbuseSign[]): void {
    const now = this.#now()
    for (const { kind, user, subject, count } of signs) {
      const key = `${kind} ${user}`
      const before = this.#alarms.get(key)
      this.#alarms.delete(key)
      const goesOn = before !== undefined && now - before.last < GAP_MS
      const worst = goesOn ? Math.max(before.count, count) : count
      // The newest last, so that the oldest one goes where there are too many.
      this.#alarms.set(key, { kind, user, subject, count: worst, since: goesOn ? before.since : now, last: now })
    }
    for (const [key, { last }] of this.#alarms) {
      if (now - last < KEEP_MS && this.#alarms.size <= MAX_ALARMS) break
      this.#alarms.delete(key)
    }
  }

  /** Newest first. */
  list(): AgentAlarm[] {
    const now = this.#now()
    return [...this.#alarms.values()]
      .filter(({ last }) => now - last < KEEP_MS)
      .map(({ since, last, ...alarm }) => ({
        ...alarm,
        since: new Date(since).toISOString(),
        last: new Date(last).toISOString()
      }))
      .toReversed()
  }
}
