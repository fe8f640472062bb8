import { useT } from '../../i18n/proxies.ts'
import classes from './latency.module.css'

/** Milliseconds at which a bar is full. */
const FULL = 1500

/** Under 500 ms fast, under 1000 medium, otherwise slow; none where it was not measured. */
function levelOf(ms: number | null): 'fast' | 'medium' | 'slow' | 'none' {
  if (ms === null) return 'none'
  if (ms < 500) return 'fast'
  return ms < 1000 ? 'medium' : 'slow'
}

/** How long a site took to answer through a proxy, as a figure and a bar. */
export function Latency({ ms }: { ms: number | null }) {
  const t = useT()
  const level = levelOf(ms)
  return (
    <span className={classes.latency} data-level={level}>
      <span className={classes.bar} aria-hidden>
        {ms !== null && <span style={{ width: `${Math.max(6, Math.min(100, (ms / FULL) * 100))}%` }} />}
      </span>
      <span className={classes.figure}>
        {ms === null ? <span aria-hidden>–</span> : `${ms} ms`}
        <span className="sr-only"> {t(`delay.${level}`)}</span>
      </span>
    </span>
  )
}
