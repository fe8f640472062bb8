import type { DaySales, Sales } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import { address } from '../../api/client.ts'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import classes from './home.module.css'
import { Panel } from './panel.tsx'

// The library that draws is larger than the rest of the console's screens.
const SalesChart = lazy(() => import('./sales-chart.tsx'))

const revenueOf = (days: readonly DaySales[]) =>
  money(fromCents(days.reduce((sum, { revenue }) => sum + toCents(revenue), 0n)))
const paidOf = (days: readonly DaySales[]) => days.reduce((sum, { paid }) => sum + paid, 0)

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
    [t('home.today'), month.slice(-1)],
    [t('home.yesterday'), [...before, ...month].slice(-2, -1)],
    [t('home.month'), month],
    [t('home.monthBefore', { day: soFar.length }), soFar]
  ] as const
  return (
    <>
      <dl className={classes.figures}>
        {figures.map(([name, days]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="num">{revenueOf(days)}</dd>
            <dd className="dim">{t('home.paidOrders', { count: paidOf(days) })}</dd>
          </div>
        ))}
      </dl>
      <Suspense fallback={<Skeleton height={220} />}>
        <SalesChart sales={sales} />
      </Suspense>
      <SalesTable sales={sales} />
      <p className={classes.links}>
        <Link to="/dashboard/index/orders?pay_status=1">{t('home.allPaid')}</Link>
        {[...new Set([...month, ...before].map(({ day }) => day.slice(0, 7)))].map(name => (
          <a key={name} href={address(home.salesCsv.path, {}, { in_month: name })} download={`sales_${name}.csv`}>
            {t('home.salesCsv', { month: name })}
          </a>
        ))}
      </p>
    </>
  )
}

/** What the chart shows, for those who cannot see it. */
function SalesTable({ sales: { month, before } }: { sales: Sales }) {
  const t = useT()
  return (
    <div className="sr-only">
      <table>
        <caption>{t('home.salesByDay')}</caption>
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
              <th scope="row">{day}</th>
              <td>{money(revenue)}</td>
              <td>{orders}</td>
              <td>{paid}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
