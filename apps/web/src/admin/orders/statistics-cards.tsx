import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import classes from './orders.module.css'

export function StatisticsCards() {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(orders.statistics))
  if (error && !data)
    return (
      <div className="card">
        <ErrorState error={error} fallback="获取订单统计数据失败" onRetry={() => void refetch()} />
      </div>
    )
  const figures = [
    [t('stats.total'), data?.total.toLocaleString('en-US')],
    [t('stats.paid'), data?.paid.toLocaleString('en-US')],
    [t('stats.unpaid'), data?.unpaid.toLocaleString('en-US')],
    [t('stats.today'), data?.today.toLocaleString('en-US')],
    [t('stats.totalAmount'), data && money(data.totalAmount)],
    [t('stats.monthlyAmount'), data && money(data.monthlyAmount)],
    [t('stats.dailyAmount'), data && money(data.dailyAmount)]
  ]
  return (
    <dl className={`card ${classes.stats}`} aria-busy={isPending}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? <Skeleton height={24} width={64} />}</dd>
        </div>
      ))}
    </dl>
  )
}
