import type { AgentTrafficChanges } from '@netlet/contract/agent'
import { HOUR } from '../../infra/clock.ts'
import type { trafficMarks } from './tables.ts'

export type TrafficRow = AgentTrafficChanges['rows'][number]
export type Mark = Pick<typeof trafficMarks.$inferSelect, 'since' | 'codes' | Figure>
type Figure = (typeof FIGURES)[number]
export type Counts = Record<Figure, number> & { codes: Record<string, number> }

export const FIGURES = ['up', 'down', 'requests', 'connections'] as const
/** More than any line carries between two reads, so a larger figure is wrong. */
const MOST = 1e15

/**
 * What a counter grew by since it was last read, and its new mark. A counter with another start counts in full. One
 * that is behind its mark is an older copy, which counts once it is ahead again.
 * @param baseline it began before we counted, so it is only remembered
 */
export function incrementOf(
  row: TrafficRow,
  mark: Mark | undefined,
  { baseline, sameEpoch }: { baseline: boolean; sameEpoch: boolean }
): { grown: Counts; mark: Mark } {
  if (mark && sameEpoch && row.since < mark.since) return { grown: nothing(), mark }
  // An earlier start after a later one is a restored folder. All of it was read before.
  const isOlder = mark !== undefined && row.since < mark.since
  const had = mark?.since === row.since ? mark : null
  const [grown, next] = [nothing(), nothing()]
  for (const name of FIGURES) {
    const before = had?.[name] ?? 0
    next[name] = Math.max(before, row[name])
    grown[name] = Math.min(MOST, next[name] - before)
  }
  const codes = [new Map(Object.entries(had?.codes ?? {})), new Map(Object.entries(row.codes))] as const
  for (const code of new Set([...codes[0].keys(), ...codes[1].keys()])) {
    const before = codes[0].get(code) ?? 0
    const now = Math.max(before, codes[1].get(code) ?? 0)
    next.codes[code] = now
    if (now > before) grown.codes[code] = Math.min(MOST, now - before)
  }
  return { grown: (baseline || isOlder) && !had ? nothing() : grown, mark: { since: row.since, ...next } }
}

const nothing = (): Counts => ({ up: 0, down: 0, requests: 0, connections: 0, codes: {} })

export const isNothing = (counts: Counts): boolean =>
  FIGURES.every(name => counts[name] === 0) && Object.keys(counts.codes).length === 0

/** The hour in which a counter last changed, by the agent's clock, but not before its last read and not after now. */
export function hourOf(changed: string, { readAt, now }: { readAt: Date | null; now: Date }): Date {
  const earliest = readAt?.getTime() ?? now.getTime() - HOUR
  const at = Math.min(now.getTime(), Math.max(earliest, Date.parse(changed)))
  return new Date(Math.floor(at / HOUR) * HOUR)
}
