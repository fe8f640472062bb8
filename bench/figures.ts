/** A measured figure and its goal. Times are in ms. Goals compare ratios, because absolute times drift. */
export type Figure = {
  what: string
  measured: string
  /** Relative to the goal's reference, measured in the same run. */
  ratio?: number
  goal: string
  met: boolean | null
}

/** A benchmark, exported by its file. It reports progress through `log` and cleans up after itself. */
export type Bench = (log: (line: string) => void) => Promise<Figure[]>

export function table(figures: Figure[]): string {
  const rows = [
    ['figure', 'measured', 'ratio', 'goal', 'met'],
    ...figures.map(({ what, measured, ratio, goal, met }) => [
      what,
      measured,
      ratio === undefined ? '' : ratio.toFixed(2),
      goal,
      met === null ? '–' : met ? 'yes' : 'NO'
    ])
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? []
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = rows
  return [line(head), line(widths.map(width => '-'.repeat(width))), ...body.map(line)].join('\n')
}

export function quantile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (samples: number[]) => quantile(samples, 0.5)

/** Runs tasks in turn, so that drift affects all alike. Returns the milliseconds of each. */
export async function alternate(
  rounds: number,
  tasks: ((round: number) => Promise<unknown>)[],
  warmUp = Math.ceil(rounds / 10)
): Promise<number[][]> {
  const samples = tasks.map((): number[] => [])
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [at, task] of tasks.entries()) {
      const start = process.hrtime.bigint()
      await task(round)
      if (round >= 0) samples[at]?.push(Number(process.hrtime.bigint() - start) / 1e6)
    }
  }
  return samples
}
