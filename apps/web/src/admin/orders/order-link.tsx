import { Link, useLocation } from 'react-router'
import { pathOfOrder } from './paths.ts'

/** Leads to an order's page, from which Back leads to the list as it is now. */
export function OrderLink({ id, number }: { id: number; number: string }) {
  const { pathname, search } = useLocation()
  return (
    <Link className="mono whole" to={pathOfOrder(id)} state={{ from: pathname + search }}>
      {number}
    </Link>
  )
}
