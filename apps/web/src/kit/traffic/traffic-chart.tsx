import '@mantine/core/styles/ColorSwatch.layer.css'
import '@mantine/core/styles/Paper.layer.css'
import '@mantine/charts/styles.layer.css'
import { BarChart } from '@mantine/charts'
import { useElementSize } from '@mantine/hooks'
import type { Traffic } from '@netlet/contract'
import { useT } from '../../i18n/account.ts'
import { bytesText, numberText } from '../money.ts'
import classes from './traffic.module.css'

/** Bytes above; requests, refusals and errors below. The hidden table has the same figures. */
export default function TrafficChart({ traffic, labelOf }: { traffic: Traffic; labelOf: (at: string) => string }) {
  const t = useT()
  const { ref, width } = useElementSize()
  const data = traffic.steps.map(step => ({ ...step, label: labelOf(step.at) }))
  const shared = {
    // Remount at another width: the library measures itself too early.
    key: width,
    w: width,
    data,
    dataKey: 'label',
    type: 'stacked',
    withLegend: true,
    // In the order of the series, not by name.
    legendProps: { itemSorter: null },
    maxBarWidth: 18,
    tickLine: 'none',
    gridAxis: 'x',
    barChartProps: { accessibilityLayer: false },
    xAxisProps: { interval: 'preserveStartEnd', minTickGap: 24 }
  } as const
  return (
    <div ref={ref} className={classes.charts} aria-hidden>
      {width > 0 && (
        <>
          <BarChart
            {...shared}
            key={`bytes ${width}`}
            h={200}
            series={[
              { name: 'down', label: t('traffic.down'), color: 'var(--nl-data)' },
              { name: 'up', label: t('traffic.up'), color: 'var(--nl-data-quiet)' }
            ]}
            valueFormatter={bytesText}
            yAxisProps={{ width: 64 }}
          />
          <BarChart
            {...shared}
            key={`requests ${width}`}
            type="default"
            h={160}
            series={[
              { name: 'requests', label: t('traffic.requests'), color: 'var(--nl-data)' },
              { name: 'refused', label: t('traffic.refused'), color: 'var(--nl-warn)' },
              { name: 'failed', label: t('traffic.failed'), color: 'var(--nl-bad)' }
            ]}
            valueFormatter={value => numberText(value)}
            yAxisProps={{ width: 64 }}
          />
        </>
      )}
    </div>
  )
}
