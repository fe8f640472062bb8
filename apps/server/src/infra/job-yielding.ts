import { setTimeout as sleep } from 'node:timers/promises'

/** Urgent: a customer is waiting. Background: half a second of delay does no harm. */
export type Importance = 'urgent' | 'normal' | 'background'

/** How a process runs the jobs of each importance. */
export type Yielding = Record<Importance, (work: () => Promise<void>) => Promise<void>>

/**
 * How long a background job yields at most (ms). Each worker does some background work even if urgent jobs never stop.
 */
const GIVE_WAY_MS = 500
/** An urgent job often leads to another one of the same order, such as the agent's after the payment's. */
const QUIET_MS = 50
const LOOK_MS = 25

/**
 * Delays background jobs of a process while urgent ones run and shortly after. Otherwise, in a burst of payments, the
 * mails and tags of the first orders would delay the last ones.
 */
export function createYielding({
  now = () => performance.now(),
  pause = (milliseconds: number): Promise<void> => sleep(milliseconds)
} = {}): Yielding {
  let running = 0
  let lastEnd = -Infinity
  const busy = () => running > 0 || now() - lastEnd < QUIET_MS
  return {
    async urgent(work) {
      running++
      try {
        await work()
      } finally {
        running--
        lastEnd = now()
      }
    },
    normal: work => work(),
    async background(work) {
      const deadline = now() + GIVE_WAY_MS
      while (busy() && now() < deadline) await pause(LOOK_MS)
      await work()
    }
  }
}
