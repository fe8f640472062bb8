import type { Order } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import type { Tools } from '../kit/index.ts'
import { Facts } from './facts.tsx'
import { pathOfOrder } from './paths.ts'
import { Timeline } from './timeline.tsx'

type Props = { id: number; row: Order | undefined; tools: Tools }

/** The number of timeline entries in the drawer. */
const LATEST = 5

/** A summary of an order beside the list. Its page has the rest. */
export function OrderDrawer({ id, row, tools }: Props) {
  const t = useT()
  const { data, error, refetch } = useQuery({
    ...read(orders.order, { params: { id } }),
    // The list already has it and keeps it current.
    enabled: !row
  })
  const order = row ?? data
  if (error && !order) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!order) return <Skeleton height={320} />
  return (
    <div className="stack">
      <Facts order={order} />
      <div>
        <Button variant="default" size="sm" onClick={() => void tools.go(pathOfOrder(id))}>
          {t('orders.openPage')}
        </Button>
      </div>
      <Timeline order={order} latest={LATEST} />
    </div>
  )
}
