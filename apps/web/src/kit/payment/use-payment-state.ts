import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useSecondsUntil } from '../use-countdown.ts'
import { useOnline } from '../use-online.ts'
import type { Pending } from './pending.ts'

/** Milliseconds between two questions whether the order is paid. */
const POLL = 3000

/**
 * Asks every 3 seconds whether an order is paid. `unknown`: its time is over by the clock, and the server has not been heard
 * since, so it may have been paid while this page slept or had no connection.
 */
export function usePaymentState({ orderId, deadline }: Pending) {
  const left = useSecondsUntil(deadline)
  const isOnline = useOnline()
  const { data, dataUpdatedAt, errorUpdatedAt } = useQuery({
    ...read(orders.payment, { query: { order_id: orderId } }),
    staleTime: 0,
    retry: false,
    // The customer is looking at the checkout in another tab meanwhile.
    refetchIntervalInBackground: true,
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'pending' ? false : POLL)
  })
  const isLate = left === 0 && dataUpdatedAt < deadline
  // Said only once it was asked in vain: the answer is mostly there a moment after the deadline.
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
    /** Why nothing is heard of the payment at the moment. */
    trouble: isOnline ? (errorUpdatedAt > dataUpdatedAt ? ('unreachable' as const) : null) : ('offline' as const),
    /** A payment came that does not pay for the order. */
    isHeld: Boolean(data?.fail)
  }
}
