import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useSecondsUntil } from '../use-countdown.ts'
import { useOnline } from '../use-online.ts'
import type { Pending } from './pending.ts'

/** Milliseconds between two polls of the payment. */
const POLL = 3000

/**
 * Polls whether an order is paid. `unknown`: the time is over and the server has not answered since, so the order may
 * have been paid while this page was asleep or offline.
 */
export function usePaymentState({ orderId, deadline }: Pending) {
  const left = useSecondsUntil(deadline)
  const isOnline = useOnline()
  const { data, dataUpdatedAt, errorUpdatedAt } = useQuery({
    ...read(orders.payment, { query: { order_id: orderId } }),
    staleTime: 0,
    retry: false,
    // The customer is at the checkout in another tab.
    refetchIntervalInBackground: true,
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'pending' ? false : POLL)
  })
  const isLate = left === 0 && dataUpdatedAt < deadline
  // Wait for one failed poll: the answer usually arrives just after the deadline.
  const isUnknown = isLate && (!isOnline || errorUpdatedAt >= deadline)
  const state: 'waiting' | 'paid' | 'cancelled' | 'over' | 'unknown' =
    data?.status === 'success'
      ? 'paid'
      : data?.is_cancelled
        ? 'cancelled'
        : data?.status === 'timeout' || (left === 0 && !isLate)
          ? 'over'
          : isUnknown
            ? 'unknown'
            : 'waiting'
  return {
    /** Seconds. */
    left,
    state,
    /** Why we cannot reach the server now. */
    trouble: isOnline ? (errorUpdatedAt > dataUpdatedAt ? ('unreachable' as const) : null) : ('offline' as const),
    /** A payment arrived that does not cover the order. */
    isHeld: Boolean(data?.fail)
  }
}
