import type { Order } from '@netlet/contract'
import { useEffect, useState } from 'react'
import { onSessionChange, useSession } from '../../api/session.ts'
import { draftOf } from '../../kit/draft.ts'

/** Orders to renew together, as they were then, and those whose checkout was opened. */
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

/** The renewals of the open dialog, restored after a reload. It closes when the signed-in user changes. */
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
