import type { DeliveryTimes } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { durationText } from '../../kit/duration.ts'
import { numberText } from '../../kit/number.ts'
import { Ago } from '../../kit/time.tsx'
import classes from './home.module.css'
import { Panel } from './panel.tsx'

/** How long customers waited between payment and working proxies. */
export function DeliveriesPanel() {
  const t = useT()
  return (
    <Panel title={t('home.deliveries')} route={home.deliveries}>
      {times => <Times times={times} />}
    </Panel>
  )
}

function Times({ times }: { times: DeliveryTimes }) {
  const t = useT()
  const language = useLanguage()
  const text = (seconds: number | null) => (seconds === null ? '–' : durationText(seconds, language))
  /** Links a figure to its orders, slowest first, if there are any. */
  const leads = (time: 'day' | 'week', figure: string) =>
    times[time].orders > 0 ? (
      <Link to={`${pageAt('Orders')}?delivered_in=${time}&sort=delivery_seconds.desc`}>{figure}</Link>
    ) : (
      figure
    )
  return (
    <>
      <table className={classes.times}>
        <thead>
          <tr>
            <td />
            <th scope="col">{t('home.lastDay')}</th>
            <th scope="col">{t('home.lastWeek')}</th>
          </tr>
        </thead>
        <tbody>
          {(['p50', 'p99'] as const).map(part => (
            <tr key={part}>
              <th scope="row">{t(`home.${part}`)}</th>
              <td className="num">{leads('day', text(times.day[part]))}</td>
              <td className="num">{leads('week', text(times.week[part]))}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t('home.delivered')}</th>
            <td className="num">{leads('day', numberText(times.day.orders))}</td>
            <td className="num">{leads('week', numberText(times.week.orders))}</td>
          </tr>
        </tbody>
      </table>
      {times.slowest.length > 0 && (
        <>
          <h4 className="size-body">{t('home.slowest')}</h4>
          <ul className="stack size-body" style={{ gap: '0.3rem' }}>
            {times.slowest.map(({ id, order, delivered_at, seconds }) => (
              <li key={id} className="row stretch" style={{ gap: '0.2rem 0.8rem' }}>
                <Link to={`${pageAt('Orders')}?open=${id}`} className="mono">
                  {order}
                </Link>
                <span className="dim">
                  <Ago at={delivered_at} />
                </span>
                <span className="num push">{durationText(seconds, language)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
