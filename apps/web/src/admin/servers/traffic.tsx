import type { AgentReport } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { bytesText } from '../../kit/bytes.ts'
import classes from './servers.module.css'

const HOURS = 48
const HEIGHT = 60

/** Bytes per hour over two days: downloads above, uploads below. */
export function Traffic({ hours }: { hours: AgentReport['hours'] }) {
  const t = useT()
  const most = Math.max(1, ...hours.map(({ up, down }) => up + down))
  const total = hours.reduce((sum, { up, down }) => ({ up: sum.up + up, down: sum.down + down }), { up: 0, down: 0 })
  const summary = t('servers.trafficSum', { up: bytesText(total.up), down: bytesText(total.down), hours: hours.length })
  const newest = Date.parse(hours.at(-1)?.at ?? '')
  return (
    <figure className={classes.traffic}>
      {total.up + total.down > 0 && (
        <svg viewBox={`0 0 ${HOURS * 4} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={summary}>
          {hours.map(({ at, up, down }) => {
            // An hour without a health check leaves a gap.
            const x = (HOURS - 1 - Math.round((newest - Date.parse(at)) / 3_600_000)) * 4
            const [whole, part] = [((up + down) / most) * HEIGHT, (up / most) * HEIGHT]
            return (
              <g key={at}>
                <rect x={x} y={HEIGHT - whole} width={3} height={whole} />
                <rect data-up x={x} y={HEIGHT - part} width={3} height={part} />
              </g>
            )
          })}
        </svg>
      )}
      <figcaption className={classes.quiet}>{summary}</figcaption>
    </figure>
  )
}
