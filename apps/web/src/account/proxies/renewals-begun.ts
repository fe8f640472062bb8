import type { Order } from '@netlet/contract'
import { onSessionChange } from '../../api/session.ts'
import { draftOf } from '../../kit/draft.ts'

/** Renewals that were asked for together, as the orders were then, and those of them whose checkout was opened. */
export type Renewals = { orders: Order[]; opened: number[] }

const draft = draftOf('renewals', { renewals: '' })

/** They stay for a reload of the tab: without them nobody knows which checkouts are open, and which orders are still to be renewed. */
export const keepRenewals = (renewals: Renewals | null): void =>
  renewals ? draft.keep({ renewals: JSON.stringify(renewals) }) : draft.forget()

/** @param userId whose they are to be */
export function keptRenewals(userId: number): Renewals | null {
  try {
    const kept = JSON.parse(draft.read().renewals) as Partial<Renewals> | null
    const { orders, opened } = kept ?? {}
    if (!Array.isArray(orders) || !Array.isArray(opened) || orders.length === 0) return null
    return orders.every(order => order.uid === userId && typeof order.order_id === 'string') ? { orders, opened } : null
  } catch {
    return null
  }
}

onSessionChange(() => keepRenewals(null))
