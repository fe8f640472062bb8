/** Under 500 ms fast, under 1000 medium, otherwise slow; none if it was not measured. */
export function delayLevel(ms: number | null): 'fast' | 'medium' | 'slow' | 'none' {
  if (ms === null) return 'none'
  if (ms < 500) return 'fast'
  return ms < 1000 ? 'medium' : 'slow'
}

/** The colour of each level. */
export const DELAY_TONES = { fast: 'good', medium: 'warn', slow: 'bad', none: 'dim' } as const

export function Delay({ ms }: { ms: number | null }) {
  return <span className={`unbroken ${DELAY_TONES[delayLevel(ms)]}`}>{ms === null ? '–' : `${ms} ms`}</span>
}
