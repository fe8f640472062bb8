import { setTimeout as sleep } from 'node:timers/promises'

/** Urgent: a customer waits for it. Background: nobody notices when it is done half a second later. */
export type Importance = 'urgent' | 'normal' | 'background'

/** How a process runs the jobs of each importance. */
export type Yielding = Record<Importance, (work: () => Promise<void>) => Promise<void>>

/**
 * The longest time that a background job gives way, in milliseconds: however long urgent ones keep coming, each worker
 * does some background work every half second.
 */
const GIVE_WAY_MS = 500
/** An urgent job is often followed by the next one of the same order, such as the agent's after the payment's. */
const QUIET_MS = 50
const LOOK_MS = 25

/**
 * Background jobs of a process wait while urgent ones run, and just after. In a burst of payments the mails and tags of the
 * first orders would otherwise take the time that the last ones need.
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
