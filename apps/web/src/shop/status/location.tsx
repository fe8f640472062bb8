import type { LocationDay, StatusLocation } from '@netlet/contract'
import { countryIn } from '@netlet/contract/places'
import type { LocationState } from '@netlet/contract/status-states'
import { useState, type KeyboardEvent, type PointerEvent } from 'react'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { useT, type Key } from '../../i18n/status.ts'
import { durationText, numberText } from '../../kit/money.ts'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'
import classes from './status.module.css'
import { flagOf } from '../../kit/country.tsx'

export const TONES: Record<LocationState, Tone> = {
  up: 'good',
  degraded: 'wait',
  down: 'bad',
  maintenance: 'busy',
  unknown: 'off'
}
const DAY = 86_400_000
/** The size of a bar. */
const [STEP, WIDTH, HEIGHT] = [4, 3, 32]

type Props = {
  location: StatusLocation
  /** The first day: '2026-03-01'. */
  from: string
}

/** A location: its current state, and one bar per day. */
export function LocationCard({ location, from }: Props) {
  const t = useT()
  const { state, up, days } = location
  const name = useNames().location(location)
  const say = useDayText(from)
  // From the original name, because a translation may not contain a country.
  const country = countryIn(location.name)
  const flag = country && flagOf(country)
  const last = days.length - 1
  const [at, setAt] = useState<number | null>(null)
  const pick = (index: number) => setAt(Math.max(0, Math.min(last, index)))
  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    if (width > 0) pick(Math.floor(((event.clientX - left) / width) * days.length))
  }
  const move = (event: KeyboardEvent) => {
    const to = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -7, PageUp: 7 }[event.key]
    const end = { Home: 0, End: last }[event.key]
    if (to === undefined && end === undefined) return
    event.preventDefault()
    pick(end ?? (at ?? last) + (to ?? 0))
  }
  const shown = days[at ?? last]
  const known = days.filter(day => day.up !== null).length
  const upOf = { up: numberText(up ?? 0), days: known }
  const share = up === null ? t('shareNone') : t(known < days.length ? 'sharePart' : 'share', upOf)
  const text = shown ? say(shown, at ?? last) : ''
  return (
    <article className={`card stack ${classes.box}`} aria-label={name}>
      <div className="row baseline between" style={{ gap: '0.25rem 1rem' }}>
        <h3 className="row unwrapped breaks" style={{ gap: '0.5rem' }}>
          {flag && <img className="flag" src={flag} alt="" width={21} height={14} />} {name}
        </h3>
        <StateBadge tone={TONES[state]}>{t(`is.${state}`)}</StateBadge>
      </div>
      {/* A slider over the days, for screen readers, touch and arrow keys. */}
      <div
        className={classes.bars}
        role="slider"
        tabIndex={0}
        aria-label={t('chart', { name })}
        aria-valuemin={1}
        aria-valuemax={days.length}
        aria-valuenow={(at ?? last) + 1}
        aria-valuetext={text}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setAt(null)}
        onBlur={() => setAt(null)}
        onKeyDown={move}
      >
        <svg viewBox={`0 0 ${days.length * STEP - (STEP - WIDTH)} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
          {days.map((day, index) => (
            <rect
              // oxlint-disable-next-line react/no-array-index-key -- the days never reorder
              key={index}
              x={index * STEP}
              width={WIDTH}
              height={HEIGHT}
              data-state={day.state}
              data-at={index === at || undefined}
            />
          ))}
        </svg>
        {at !== null && (
          <span
            className={classes.tip}
            role="tooltip"
            style={
              at < days.length / 2
                ? { left: `${(at / days.length) * 100}%` }
                : { right: `${((last - at) / days.length) * 100}%` }
            }
          >
            {text}
          </span>
        )}
      </div>
      <div className={`dim row unwrapped stretch between size-table ${classes.scale}`}>
        <span>{t('from')}</span>
        <span className="num">{share}</span>
        <span>{t('today')}</span>
      </div>
    </article>
  )
}

/** A day in words: 'Mar 1, 2026: 99.9 % up, down for 2 min'. */
function useDayText(from: string) {
  const t = useT()
  const language = useLanguage()
  const format = new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' })
  const lasted = (key: Key, minutes: number) =>
    minutes > 0 ? [t(key, { time: durationText(minutes * 60, language) })] : []
  return ({ state, up, degraded, down, maintenance }: LocationDay, index: number): string => {
    const day = format.format(Date.parse(from) + index * DAY)
    if (state === 'unknown') return t('dayUnknown', { day })
    if (up === null) return t('dayMaintenance', { day })
    const parts = [
      ...lasted('downFor', down),
      ...lasted('degradedFor', degraded),
      ...lasted('maintainedFor', maintenance)
    ]
    return [t('day', { day, up: numberText(up) }), ...parts].join(', ')
  }
}
