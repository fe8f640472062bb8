import type { Order } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { ErrorState } from '../../kit/states.tsx'
import type { Tools } from '../kit/index.ts'
import { Facts, History } from './facts.tsx'

type Props = { id: number; row: Order | undefined; tools: Tools }

/** An order beside the list. */
export function OrderDrawer({ id, row, tools }: Props) {
  const { data, error, refetch } = useQuery({
    ...read(orders.proxyDetail, { params: { id }, query: { limit: 1 } }),
    // The list has it already, and follows it.
    enabled: !row
  })
  const order = row ?? data?.order
  if (error && !order) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!order) return <Skeleton height={320} />
  return (
    <div className="stack">
      <Facts order={order} />
      <div>
        <Button variant="default" size="sm" onClick={() => tools.detail(id)}>
          {tools.t('orders.details')}
        </Button>
      </div>
      <History order={order} />
    </div>
  )
}
