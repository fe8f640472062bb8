import type { Order } from '@netlet/contract'
import { EXPIRING_DAYS } from '@netlet/contract/limits'
import { IconAlertTriangle, IconClockExclamation } from '@tabler/icons-react'
import { useLanguage } from '../../i18n/language.ts'
import { useT } from '../../i18n/proxies.ts'
import { fullText, useClock } from '../../kit/time.tsx'
import { unitText } from '../../kit/money.ts'
import classes from './orders.module.css'
import { none } from '../../kit/none.tsx'
import { payable, useHeldUntil } from '../../kit/payment/pending.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Amber while an order is expiring soon, red under 3 days, to the millisecond: time shown as 6 days is under 7. */
export function urgency(left: number): 'far' | 'soon' | 'verySoon' {
  if (left < 3 * DAY) return 'verySoon'
  return left < EXPIRING_DAYS * DAY ? 'soon' : 'far'
}

const TONES = { far: '', soon: 'warn strong', verySoon: 'bad strong' } as const

/** The time left, rounded down: days, then hours below two days, minutes below an hour. @param left milliseconds */
export function timeLeft(left: number, language: string): string {
  const [unit, length] = left >= 2 * DAY ? ['day', DAY] : left >= HOUR ? ['hour', HOUR] : ['minute', 60_000]
  return unitText(Math.max(0, Math.floor(left / length)), language, { unit, unitDisplay: 'long' })
}

/** A day, with its year unless it is the current one: 'Dec 23'. */
export const dayText = (at: string, now: number, language: string): string =>
  new Intl.DateTimeFormat(language, {
    month: 'short',
    day: 'numeric',
    ...(new Date(at).getFullYear() === new Date(now).getFullYear() ? {} : { year: 'numeric' })
  }).format(new Date(at))

/** An order's end as a date and the time left; otherwise what applies instead. */
export function Expiry({ order }: { order: Order }) {
  const t = useT()
  const language = useLanguage()
  const now = useClock()
  const { grace_until, expired_at, state, pay_status } = order
  // A refund ends an order, so its original end no longer applies.
  if (state === 'refunded') return none
  const pending = payable(order, now)
  if (pending) return <PayBy deadline={pending.deadline} />
  const until = grace_until ?? expired_at
  if (until === null) return pay_status === 1 ? <span className="dim">{t('orders.startsWithDelivery')}</span> : none
  const left = Date.parse(until) - now
  const date = dayText(until, now, language)
  const title = fullText(until, language)
  // It ended early, as after a won dispute.
  if (left > 0 && grace_until === null && order.is_expired) return none
  if (left <= 0)
    return (
      <time dateTime={until} title={title} className="dim">
        {t('orders.ended', { date })}
      </time>
    )
  const values = { date, left: timeLeft(left, language) }
  const level = grace_until === null ? urgency(left) : 'verySoon'
  return (
    <time
      dateTime={until}
      title={title}
      className={`row unwrapped inline ${TONES[level]} ${classes.expiry}`}
      data-held={grace_until !== null || undefined}
    >
      {level === 'soon' && <IconClockExclamation size={15} aria-hidden />}
      {level === 'verySoon' && <IconAlertTriangle size={15} aria-hidden />}
      <span>
        {t(grace_until === null ? 'orders.left' : 'orders.held', values)}
        {level !== 'far' && grace_until === null && <span className="sr-only"> ({t(`orders.${level}`)})</span>}
      </span>
    </time>
  )
}

/** Until when an unpaid order can be paid. */
function PayBy({ deadline }: { deadline: number }) {
  const t = useT()
  const language = useLanguage()
  const at = new Date(deadline)
  return (
    <time
      dateTime={at.toISOString()}
      title={fullText(at, language)}
      className={`row unwrapped inline ${TONES.soon} ${classes.expiry}`}
      data-held
    >
      <IconClockExclamation size={15} aria-hidden />
      <span>{t('orders.payBy', useHeldUntil(deadline))}</span>
    </time>
  )
}
