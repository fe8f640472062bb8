import '../kit/styles.ts'
import { DeliveriesPanel } from './deliveries.tsx'
import classes from './home.module.css'
import { AttentionPanel } from './attention.tsx'
import { SalesPanel } from './sales.tsx'
import { StockPanel } from './stock-map.tsx'
import type { Endings, SetupStep } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { numberText } from '../../kit/number.ts'
import { EVERY, Panel } from './panel.tsx'
import { IconCheck, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { useMay } from '../../api/may.ts'
import { read } from '../../api/query.ts'
import { gridStyle } from '../../kit/grid-style.ts'

const PLACES: Record<SetupStep, string> = {
  platform: `${pageAt('WebsiteSettings')}?tab=shopify`,
  mail: `${pageAt('WebsiteSettings')}?tab=email`,
  rule: `${pageAt('AclManager')}?form=new`,
  server: `${pageAt('servers')}?form=new`,
  group: `${pageAt('servergroup')}?form=new`,
  product: pageAt('productManager')
}

/** What a new shop needs before it can sell. Hidden once everything is done. */
function SetupPanel() {
  const { mayCall } = useMay()
  return mayCall(home.setup) ? <Steps /> : null
}

function Steps() {
  const t = useT()
  const id = useId()
  // If it cannot be read, show nothing: the other panels report that the server does not answer.
  const { data } = useQuery({ ...read(home.setup), refetchInterval: EVERY })
  if (!data || data.every(({ done }) => done)) return null
  return (
    <section
      className={`card stack panel shrinks ${classes.panel}`}
      style={{ gap: '0.8rem' }}
      aria-labelledby={id}
      data-wide
    >
      <h3 id={id}>{t('home.setup')}</h3>
      <p className="dim">{t('home.setupHint')}</p>
      <ol style={gridStyle('19rem', '0.5rem')}>
        {data.map(({ step, done }, at) => (
          <li key={step}>
            <Link to={PLACES[step]} className={classes.item} data-done={done}>
              {done ? (
                <IconCheck size={20} aria-label={t('home.stepDone')} />
              ) : (
                <strong className="num">{numberText(at + 1)}</strong>
              )}
              <span>
                <span>{t(`home.step.${step}`)}</span>
                <small className="dim size-label" style={{ display: 'block' }}>
                  {t(`home.stepHint.${step}`)}
                </small>
              </span>
              <IconChevronRight size={16} aria-hidden />
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** How many leases end on each of the next days, linked to the orders. */
function EndingsPanel() {
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
    <ul className="stack size-body" style={{ gap: 0 }} aria-label={t('home.endings')}>
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

/** The operator's start page: what needs attention, and how the shop is doing. */
export default function HomePage() {
  return (
    <div className="start" style={gridStyle('24rem', '1rem', 'auto-fit')}>
      <SetupPanel />
      <AttentionPanel />
      <SalesPanel />
      <EndingsPanel />
      <DeliveriesPanel />
      <StockPanel />
    </div>
  )
}
