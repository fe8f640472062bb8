import { NO_NEXT_LEVEL } from '@netlet/contract/limits'

export type Standing = {
  level: number
  /** The next level's threshold, or NO_NEXT_LEVEL. */
  next: number
  /** Level points to the next level; 0 at the highest. */
  missing: number
}

/** The level that the points reach: level 1 at the first threshold, 5 at the fifth. Sorts the thresholds. */
export function standingOf(points: number, thresholds: readonly number[]): Standing {
  const sorted = thresholds.toSorted((one, other) => one - other).slice(0, 5)
  const level = sorted.filter(threshold => points >= threshold).length
  const next = sorted[level] ?? NO_NEXT_LEVEL
  return { level, next, missing: next === NO_NEXT_LEVEL ? 0 : next - points }
}

/** The filled part of each level's section, from 0 to 1. */
export function fillOf(points: number, thresholds: readonly number[]): number[] {
  const sorted = thresholds.toSorted((one, other) => one - other).slice(0, 5)
  return sorted.map((threshold, index) => {
    const from = sorted[index - 1] ?? 0
    if (threshold <= from) return points >= threshold ? 1 : 0
    return Math.min(1, Math.max(0, (points - from) / (threshold - from)))
  })
}
