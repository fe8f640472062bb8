import type { Endings } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { numberText } from '../../kit/number.ts'
import classes from './home.module.css'
import { Panel } from './panel.tsx'

/** How many leases end on each of the next days, linked to the orders. */
export function EndingsPanel() {
  const t = useT()
  return (
    <Panel title={t('home.endings')} route={home.endings}>
      {endings => <Days endings={endings} />}
    </Panel>
  )
}

function Days({ endings }: { endings: Endings }) {
  const t = useT()
  const language = useLanguage()
  const most = Math.max(1, ...endings.map(({ orders }) => orders))
  const format = new Intl.DateTimeFormat(language, {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC'
  })
  return (
    <ul className={classes.days} aria-label={t('home.endings')}>
      {endings.map(({ day, orders }) => {
        const inside = (
          <>
            <time dateTime={day}>{format.format(new Date(`${day}T00:00:00Z`))}</time>
            <span className={classes.track} aria-hidden>
              <span style={{ width: `${(orders / most) * 100}%` }} />
            </span>
            <span className="num">{numberText(orders)}</span>
          </>
        )
        return (
          <li key={day}>
            {orders > 0 ? (
              <Link to={`${pageAt('Orders')}?ends_on=${day}&sort=expired_at.asc`} className={classes.dayRow}>
                {inside}
              </Link>
            ) : (
              <span className={`${classes.dayRow} dim`}>{inside}</span>
            )}
          </li>
        )
      })}
    </ul>
  )
}
