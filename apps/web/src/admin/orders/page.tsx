import { useParams } from 'react-router'
import { Orders } from './orders.tsx'

/** The path's username is the initial search. */
function OrdersPage() {
  const { username = '' } = useParams()
  return <Orders key={username} search={username} />
}

export default Object.assign(OrdersPage, { resource: Orders.resource })
