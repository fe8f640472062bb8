import type { Order } from '@netlet/contract'

/** For all tabs of this browser, since a checkout that is open in one of them can be paid. */
const KEY = 'netlet-renewals-begun'
/** Milliseconds for which a checkout is taken for open: nothing tells when its tab is closed. */
const LIFE = 86_400_000

type Begun = { id: number; uid: number; was: string; at: number }

/** What a payment changes: the end of a delivered order, and the sum of one that is on its way. */
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
    // A browser that keeps nothing asks nothing.
  }
}

/** Was a checkout opened for the renewal of this order that was not paid since, in whatever tab of this browser? */
export const isBegun = (order: Order): boolean =>
  read().some(({ id, uid, was }) => id === order.id && uid === order.uid && was === paidState(order))

export const begin = (order: Order): void =>
  keep([
    ...read().filter(({ id }) => id !== order.id),
    { id: order.id, uid: order.uid, was: paidState(order), at: Date.now() }
  ])

/** No checkout came of it, and none was open before. */
export const takeBack = (orderId: number): void => keep(read().filter(({ id }) => id !== orderId))
