import { useParams } from 'react-router'
import { Orders } from './orders.tsx'

/** The path's username is what is searched for until somebody searches for something else. */
export default function OrdersPage() {
  const { username = '' } = useParams()
  return <Orders key={username} search={username} />
}
