import type { Order } from '@netlet/contract'
import { useEffect, useState } from 'react'
import { onSessionChange } from '../../api/session.ts'
import { useDraft } from '../../kit/draft.ts'

/** Orders to renew together, as they were then, and those whose checkout was opened. */
export type Renewals = { orders: Order[]; opened: number[] }

const NONE: Renewals = { orders: [], opened: [] }

/** The renewals of the open dialog, restored after a reload. It closes when the signed-in user changes. */
export function useRenewals() {
  const draft = useDraft('renewals', NONE)
  const [renewals, setRenewals] = useState(() => {
    const kept = { ...NONE, ...draft.kept }
    return kept.orders.length > 0 ? kept : null
  })
  useEffect(() => onSessionChange(() => setRenewals(null)), [])
  const renew = (next: Renewals | null) => {
    if (next) draft.keep(next)
    else draft.forget()
    setRenewals(next)
  }
  return [renewals, renew] as const
}

/** Shared by all tabs, because a checkout in any of them can be paid. */
const KEY = 'netlet-renewals-begun'
/** Milliseconds for which a checkout counts as open, because we cannot see its tab close. */
const LIFE = 86_400_000

type Begun = { id: number; uid: number; was: string; at: number }

/** Changes with a payment: a delivered order gets a new end, one in delivery a new sum. */
const paidState = ({ expired_at, pay_amount }: Order) => `${expired_at} ${pay_amount}`

function read(): Begun[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    if (!Array.isArray(kept)) return []
    const rows = kept.filter((row): row is Begun => typeof row === 'object' && row !== null)
    return rows.filter(({ at }) => typeof at === 'number' && Math.abs(Date.now() - at) < LIFE)
  } catch {
    return []
  }
}

function keep(rows: Begun[]): void {
  try {
    if (rows.length > 0) localStorage.setItem(KEY, JSON.stringify(rows))
    else localStorage.removeItem(KEY)
  } catch {
    // Without storage there is no warning.
  }
}

/** Was a checkout for this order's renewal opened in this browser and not paid since? */
export const isBegun = (order: Order): boolean =>
  read().some(({ id, uid, was }) => id === order.id && uid === order.uid && was === paidState(order))

export const begin = (order: Order): void =>
  keep([
    ...read().filter(({ id }) => id !== order.id),
    { id: order.id, uid: order.uid, was: paidState(order), at: Date.now() }
  ])

/** Call it if no checkout was opened and none was open before. */
export const takeBack = (orderId: number): void => keep(read().filter(({ id }) => id !== orderId))
