/** The level points at which a level begins. */
export type Threshold = { level: number; point: number }

/** The highest level whose threshold the points reach; 0 below all of them. */
export function levelOf(points: number, thresholds: readonly Threshold[]): number {
  let level = 0
  for (const step of thresholds) if (points >= step.point) level = Math.max(level, step.level)
  return level
}
