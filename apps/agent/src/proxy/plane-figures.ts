/** Figures of one process: rising counters, and the present values `targets`, `open` and `dns.failing`. */
export type PlaneFigures = {
  accepted: number
  /** Internal errors. Each ended a connection. */
  faults: number
  /** Open connections to targets. Each uses a local port. */
  targets: number
  open: number
  /** Finished and refused requests, by log note. */
  outcomes: Record<string, number>
  dns: DnsFigures
}
/**
 * Customers' questions to name servers: all, those without a usable answer ("no such name" is usable), and their total time.
 * `failing`: processes whose own questions get no answer either.
 */
export type DnsFigures = { lookups: number; failures: number; milliseconds: number; failing: number }

export const noFigures = (): PlaneFigures => ({
  accepted: 0,
  faults: 0,
  targets: 0,
  open: 0,
  outcomes: {},
  dns: { lookups: 0, failures: 0, milliseconds: 0, failing: 0 }
})

/** What was counted since `before`. Present values stay. */
export function figuresSince(now: PlaneFigures, before: PlaneFigures): PlaneFigures {
  const outcomes = Object.entries(now.outcomes).map(([note, count]) => [note, count - (before.outcomes[note] ?? 0)])
  const dns = {
    lookups: now.dns.lookups - before.dns.lookups,
    failures: now.dns.failures - before.dns.failures,
    milliseconds: now.dns.milliseconds - before.dns.milliseconds,
    failing: now.dns.failing
  }
  const [accepted, faults] = [now.accepted - before.accepted, now.faults - before.faults]
  return { ...now, accepted, faults, outcomes: Object.fromEntries(outcomes), dns }
}

/** Adds the figures of another process. Its present values count only while it lives. */
export function addFigures(to: PlaneFigures, from: PlaneFigures, isAlive: boolean): PlaneFigures {
  to.accepted += from.accepted
  // Processes of older versions do not send this figure.
  to.faults += from.faults || 0
  if (isAlive) to.open += from.open
  if (isAlive) to.targets += from.targets
  if (isAlive) to.dns.failing += from.dns.failing || 0
  for (const [note, count] of Object.entries(from.outcomes)) to.outcomes[note] = (to.outcomes[note] ?? 0) + count
  for (const name of ['lookups', 'failures', 'milliseconds'] as const) to.dns[name] += from.dns[name]
  return to
}
