import type { AttentionItem, DeliveryTimes, Endings, ReplyOf, SetupStep } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconCheck, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { home } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { durationText, numberText } from '../../kit/money.ts'
import { gridStyle } from '../../kit/grid-style.ts'
import { Ago } from '../../kit/time.tsx'
import classes from './home.module.css'
import { EVERY, Panel } from './panel.tsx'
import { SalesPanel } from './sales.tsx'
import { StockPanel } from './stock-map.tsx'
import '../kit/styles.ts'

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

/** How long customers waited between payment and working proxies. */
function DeliveriesPanel() {
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

/** The list, filtered to exactly the rows counted. */
const ATTENTION_PATHS: Record<AttentionItem, string> = {
  undelivered: `${pageAt('Orders')}?problem=1`,
  payments: `${pageAt('payments')}?unresolved=1`,
  store_password: pageAt('health'),
  webhooks: pageAt('health'),
  late_events: `${pageAt('payments')}?late=1`,
  servers: `${pageAt('servers')}?state=trouble`,
  upgrades: pageAt('servers'),
  abuse: `${pageAt('health')}#abuse`,
  proofs: `${pageAt('health')}#proofs`,
  dead_letters: `${pageAt('tasks')}?tab=dead`,
  mails: `${pageAt('mails')}?state=failed`,
  notices: `${pageAt('notices')}?state=failed`,
  prices: `${pageAt('health')}#prices`,
  stock: `${pageAt('productManager')}?low_stock=1`,
  tickets: `${pageAt('tickets')}?state=open`
}

export function AttentionPanel() {
  const t = useT()
  return (
    <Panel title={t('home.attention')} route={home.attention} wide>
      {list => <AttentionList list={list} />}
    </Panel>
  )
}

function AttentionList({ list }: { list: ReplyOf<typeof home.attention> }) {
  const t = useT()
  const open = list.filter(({ count }) => count !== 0)
  if (open.length === 0) return <p className={classes.quiet}>{t('home.nothing')}</p>
  return (
    <ul className={classes.items} style={gridStyle('17rem', '0.5rem')}>
      {open.map(({ what, count }) => (
        <li key={what}>
          <Link to={ATTENTION_PATHS[what]} className={classes.item}>
            <strong className="num size-title" style={{ fontWeight: 650 }}>
              {count === null ? '?' : numberText(count)}
            </strong>
            <span>
              {t(`home.attention.${what}`)}
              {count === null && <span className="dim"> ({t('home.uncounted')})</span>}
            </span>
            <IconChevronRight size={16} aria-hidden />
          </Link>
          {what === 'servers' && (
            <Link to={`${pageAt('outages')}?state=lasts`} className="size-table" style={{ padding: '0.3rem 0.7rem 0' }}>
              {t('home.outages')}
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}
