/** Counters of one process that only rise, and three figures of the moment. */
export type PlaneFigures = {
  accepted: number
  /** Errors of our own, each of which ended a connection. */
  faults: number
  /** Connections to targets that are open: each has a local port. */
  targets: number
  open: number
  /** Finished and refused requests by the note of their log line: 'ok', or why not. */
  outcomes: Record<string, number>
  dns: DnsFigures
}
/**
 * Questions of customers to name servers; those without a usable answer ('no such name' is one); how long all of them took. Of the
 * moment: how many processes get no answer to questions of their own either.
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

/** What was counted since `before`; what is of the moment stays. */
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

/** Adds what another process counted. What is of the moment counts only where that process lives. */
export function addFigures(to: PlaneFigures, from: PlaneFigures, isAlive: boolean): PlaneFigures {
  to.accepted += from.accepted
  // A process of before this figure was there tells none.
  to.faults += from.faults || 0
  if (isAlive) to.open += from.open
  if (isAlive) to.targets += from.targets
  if (isAlive) to.dns.failing += from.dns.failing || 0
  for (const [note, count] of Object.entries(from.outcomes)) to.outcomes[note] = (to.outcomes[note] ?? 0) + count
  for (const name of ['lookups', 'failures', 'milliseconds'] as const) to.dns[name] += from.dns[name]
  return to
}
