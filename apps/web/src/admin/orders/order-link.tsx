import { Link, useLocation } from 'react-router'
import { pathOfOrder } from './paths.ts'

/** Links to an order's page. Back returns to the list in its current state. */
export function OrderLink({ id, number }: { id: number; number: string }) {
  const { pathname, search } = useLocation()
  return (
    <Link className="mono whole" to={pathOfOrder(id)} state={{ from: pathname + search }}>
      {number}
    </Link>
  )
}
