import { useT } from '../../i18n/proxies.ts'
import { DELAY_TONES, delayLevel } from '../../kit/delay.tsx'
import classes from './latency.module.css'

/** Milliseconds at which the bar is full. */
const FULL = 1500

export function Latency({ ms }: { ms: number | null }) {
  const t = useT()
  const level = delayLevel(ms)
  return (
    <span className={`num size-table ${DELAY_TONES[level]} ${classes.latency}`} data-level={level}>
      {ms !== null && (
        <span className={classes.bar} aria-hidden>
          <span style={{ width: `${Math.max(6, Math.min(100, (ms / FULL) * 100))}%` }} />
        </span>
      )}
      <span className={classes.figure}>
        {ms === null ? <span aria-hidden>–</span> : `${ms} ms`}
        <span className="sr-only"> {t(`delay.${level}`)}</span>
      </span>
    </span>
  )
}
