import type { Order } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useClock } from '../../kit/clock.ts'
import { payable, type Pending } from '../../kit/payment/pending.ts'

/** More than a customer may hold unpaid at once, as shops are set up. */
const MOST = 100

export type Unpaid = { order: Order; pending: Pending }

type Wanted = { product: number; variant: number; rules: readonly number[]; quantity: number }

/**
 * The order of the same plan, rules and quantity that the customer has not paid yet and still can. `looking`: it is not known
 * yet whether there is one. Where that cannot be read, an order is placed as if there were none.
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
