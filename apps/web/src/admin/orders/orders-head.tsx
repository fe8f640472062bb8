import { useT } from '../../i18n/admin.ts'
import { useAddress } from '../../kit/use-address.ts'
import { StatisticsCards } from './statistics-cards.tsx'

/** Above the list: the figures, and what a sort by delivery time leaves out, since no index has it for all orders. */
export function OrdersHead() {
  const t = useT()
  const { query } = useAddress()
  const isOfWeek = query.get('sort')?.startsWith('delivery_seconds.') && !query.has('delivered_in')
  return (
    <>
      <StatisticsCards />
      {isOfWeek && <p role="status">{t('orders.weekAlone')}</p>}
    </>
  )
}
