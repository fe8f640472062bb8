import type { Order } from '@netlet/contract'
import { useEffect, useState } from 'react'
import { onSessionChange, useSession } from '../../api/session.ts'
import { draftOf } from '../../kit/draft.ts'

/** Renewals that were asked for together, as the orders were then, and those of them whose checkout was opened. */
export type Renewals = { orders: Order[]; opened: number[] }

const draft = draftOf('renewals', { renewals: '' })

function keptOf(userId: number): Renewals | null {
  try {
    const kept = JSON.parse(draft.read().renewals) as Partial<Renewals> | null
    const { orders, opened } = kept ?? {}
    if (!Array.isArray(orders) || !Array.isArray(opened) || orders.length === 0) return null
    return orders.every(order => order.uid === userId && typeof order.order_id === 'string') ? { orders, opened } : null
  } catch {
    return null
  }
}

/**
 * The renewals whose dialog is open, also after a reload of the tab: without them nobody knows which checkouts are open, and
 * which orders are still to be renewed. It is closed for whoever else is signed in.
 */
export function useRenewals() {
  const { user } = useSession()
  const [renewals, setRenewals] = useState(() => (user ? keptOf(user.id) : null))
  useEffect(() => onSessionChange(() => setRenewals(null)), [])
  const renew = (next: Renewals | null) => {
    if (next) draft.keep({ renewals: JSON.stringify(next) })
    else draft.forget()
    setRenewals(next)
  }
  return [renewals, renew] as const
}
