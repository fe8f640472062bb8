import { useT } from '../../i18n/admin.ts'
import { useAddress } from '../../kit/use-address.ts'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { money } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'
import { ErrorState } from '../../kit/states.tsx'
import { StatList } from '../kit/index.ts'

function StatisticsCards() {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(orders.statistics))
  if (error && !data)
    return (
      <div className="card">
        <ErrorState error={error} fallback="获取订单统计数据失败" onRetry={() => void refetch()} />
      </div>
    )
  const stats: [string, string | undefined][] = [
    [t('stats.total'), data && numberText(data.total)],
    [t('stats.paid'), data && numberText(data.paid)],
    [t('stats.unpaid'), data && numberText(data.unpaid)],
    [t('stats.today'), data && numberText(data.today)],
    [t('stats.totalAmount'), data && money(data.totalAmount)],
    [t('stats.monthlyAmount'), data && money(data.monthlyAmount)],
    [t('stats.dailyAmount'), data && money(data.dailyAmount)]
  ]
  return (
    <StatList
      stats={stats.map(([title, value]) => [title, value ?? <Skeleton height={24} width={64} />])}
      pending={isPending}
    />
  )
}

/** The figures, and a note that sorting by delivery time covers only this week, because the index does. */
export function OrdersHead() {
  const t = useT()
  const { query } = useAddress()
  const isOfWeek = query.get('sort')?.startsWith('delivery_seconds.') && !query.has('delivered_in')
  return (
    <>
      <StatisticsCards />
      {isOfWeek && <p role="status">{t('orders.weekAlone')}</p>}
    </>
  )
}
