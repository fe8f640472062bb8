import type { Order } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useClock } from '../../kit/time.tsx'
import { payable, type Pending } from '../../kit/payment/pending.ts'

/** More unpaid orders than a customer may have by default. */
const MOST = 100

export type Unpaid = { order: Order; pending: Pending }

type Wanted = { product: number; variant: number; rules: readonly number[]; quantity: number }

/**
 * An unpaid order of the same plan, rules and quantity that can still be paid. `looking`: not known yet. If the orders
 * cannot be read, assume there is none.
 */
export function useUnpaid({ product, variant, rules, quantity }: Wanted) {
  const { user } = useSession()
  const now = useClock()
  const { data, isLoading } = useQuery({
    ...read(orders.list, { query: { state: 'placed', limit: MOST } }),
    enabled: user !== null && !user.is_superuser,
    retry: false
  })
  const selected = rules.toSorted((one, other) => one - other).join(',')
  const [unpaid] = (data?.data ?? []).flatMap((order): Unpaid[] => {
    const pending = payable(order, now)
    const isSame =
      order.product_id === product &&
      order.variant_id === variant &&
      order.acl_selected === selected &&
      order.product_quantity === quantity
    return pending && isSame ? [{ order, pending }] : []
  })
  return { unpaid, looking: isLoading }
}
