import type { DaySales, Sales } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { pageAt } from '@netlet/contract/pages'
import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import { address } from '../../api/client.ts'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import classes from './home.module.css'
import { Panel } from './panel.tsx'
import { gridStyle } from '../../kit/grid-style.ts'

// The chart library is larger than the rest of the console's screens.
const SalesChart = lazy(() => import('./sales-chart.tsx'))

const revenueOf = (days: readonly DaySales[]) =>
  money(fromCents(days.reduce((sum, { revenue }) => sum + toCents(revenue), 0n)))
const paidOf = (days: readonly DaySales[]) => days.reduce((sum, { paid }) => sum + paid, 0)

const ORDERS = pageAt('Orders')
/** The orders behind a day's revenue: paid or renewed on that day. */
const paidOn = (day: string): string => `${ORDERS}?paid_on=${day}`
/** Lists of the orders behind a figure: placed in the period and paid since, or paid or renewed in it. */
const PLACES = {
  day: { paid: (day: string) => `${ORDERS}?placed_on=${day}&pay_status=1`, revenue: paidOn },
  month: {
    paid: (day: string) => `${ORDERS}?placed_in=${day.slice(0, 7)}&pay_status=1`,
    revenue: (day: string) => `${ORDERS}?paid_in=${day.slice(0, 7)}`
  }
}

export function SalesPanel() {
  const t = useT()
  return (
    <Panel title={t('home.sales')} route={home.sales} wide>
      {sales => <Figures sales={sales} />}
    </Panel>
  )
}

function Figures({ sales }: { sales: Sales }) {
  const t = useT()
  const { month, before } = sales
  const soFar = before.slice(0, month.length)
  const figures = [
    [t('home.today'), month.slice(-1), PLACES.day],
    [t('home.yesterday'), [...before, ...month].slice(-2, -1), PLACES.day],
    [t('home.month'), month, PLACES.month],
    // No list filters by a month up to a given day.
    [t('home.monthBefore', { day: soFar.length }), soFar, undefined]
  ] as const
  return (
    <>
      <dl className={classes.figures} style={gridStyle('8.5rem', '0.75rem 1rem', 'auto-fit')}>
        {figures.map(([name, days, places]) => (
          <div key={name}>
            <dt className="size-label">{name}</dt>
            <dd className="num size-title" style={{ fontWeight: 650 }}>
              <ToRows to={days[0] && places?.revenue(days[0].day)}>{revenueOf(days)}</ToRows>
            </dd>
            <dd className="dim size-table">
              <ToRows to={days[0] && places?.paid(days[0].day)}>{t('home.paidOrders', { count: paidOf(days) })}</ToRows>
            </dd>
          </div>
        ))}
      </dl>
      <Suspense fallback={<Skeleton height={220} />}>
        <SalesChart sales={sales} pathOf={paidOn} />
      </Suspense>
      <SalesTable sales={sales} />
      <p className="row stretch" style={{ gap: '0.4rem 1.2rem' }}>
        <Link to={`${pageAt('Orders')}?pay_status=1`}>{t('home.allPaid')}</Link>
        {[...new Set([...month, ...before].map(({ day }) => day.slice(0, 7)))].map(name => (
          <a key={name} href={address(home.salesCsv.path, {}, { in_month: name })} download={`sales_${name}.csv`}>
            {t('home.salesCsv', { month: name })}
          </a>
        ))}
      </p>
    </>
  )
}

const ToRows = ({ to, children }: { to: string | undefined; children: string }) =>
  to ? <Link to={to}>{children}</Link> : children

/** The chart's data as a table. Each day links to the orders paid on it. */
function SalesTable({ sales: { month, before } }: { sales: Sales }) {
  const t = useT()
  return (
    <details>
      <summary>{t('home.salesByDay')}</summary>
      <table className={classes.times}>
        <caption className="sr-only">{t('home.salesByDay')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('home.day')}</th>
            <th scope="col">{t('home.revenue')}</th>
            <th scope="col">{t('home.placed')}</th>
            <th scope="col">{t('home.paid')}</th>
          </tr>
        </thead>
        <tbody>
          {[...before, ...month].map(({ day, revenue, orders, paid }) => (
            <tr key={day}>
              <th scope="row">
                <Link to={paidOn(day)}>{day}</Link>
              </th>
              <td className="num">{money(revenue)}</td>
              <td>{orders}</td>
              <td>{paid}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
