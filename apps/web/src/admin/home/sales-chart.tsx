import '@mantine/core/styles/ColorSwatch.layer.css'
import '@mantine/core/styles/Paper.layer.css'
import '@mantine/charts/styles.layer.css'
import { CompositeChart } from '@mantine/charts'
import { useElementSize } from '@mantine/hooks'
import type { DaySales, Sales } from '@netlet/contract'
import { useNavigate } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import classes from './home.module.css'

type Props = {
  sales: Sales
  /** The address of a day's orders. */
  pathOf: (day: string) => string
}

/** This month's days as bars, last month's as a line. The table below has the same figures. */
export default function SalesChart({ sales: { month, before }, pathOf }: Props) {
  const t = useT()
  const navigate = useNavigate()
  const { ref, width } = useElementSize()
  const days = Math.max(before.length, month.length)
  const data = Array.from({ length: days }, (_, at) => ({
    day: String(at + 1),
    month: heightOf(month[at]),
    before: heightOf(before[at])
  }))
  return (
    <div ref={ref} className={classes.chart} aria-hidden>
      {width > 0 && (
        <CompositeChart
          // Remount at another width: the library measures itself too early.
          key={width}
          w={width}
          h={220}
          data={data}
          dataKey="day"
          series={[
            { name: 'month', label: t('home.month'), type: 'bar', color: 'var(--nl-data)' },
            { name: 'before', label: t('home.before'), type: 'line', color: 'var(--nl-quiet)', strokeDasharray: '4 3' }
          ]}
          curveType="linear"
          withDots={false}
          withLegend
          legendProps={{ itemSorter: null }}
          maxBarWidth={18}
          tickLine="none"
          gridAxis="x"
          valueFormatter={value => money(value.toFixed(2))}
          yAxisProps={{ width: 76 }}
          composedChartProps={{ accessibilityLayer: false }}
          // Only for the pointer; the table below has the same links.
          barProps={{ onClick: (_bar, at) => month[at] && void navigate(pathOf(month[at].day)), cursor: 'pointer' }}
        />
      )}
    </div>
  )
}

/** Floats are fine for drawing; nothing is summed. */
const heightOf = (day: DaySales | undefined) => (day ? Number(day.revenue) : null)
