import { Link, useLocation } from 'react-router'
import { pageAt } from '@netlet/contract/pages'
import { useState } from 'react'

const LIST = pageAt('Orders')
export const pathOfOrder = (id: number): string => pageAt('order', { id })

/** The list's address when this page was opened from it, else the plain list. */
export function useListLeft(): string {
  const { state } = useLocation()
  const from = (state as { from?: unknown } | null)?.from
  const [left] = useState(typeof from === 'string' && /^\/dashboard\/index\/orders([/?]|$)/.test(from) ? from : LIST)
  return left
}

/** Links to an order's page. Back returns to the list in its current state. */
export function OrderLink({ id, number }: { id: number; number: string }) {
  const { pathname, search } = useLocation()
  return (
    <Link className="mono whole" to={pathOfOrder(id)} state={{ from: pathname + search }}>
      {number}
    </Link>
  )
}
