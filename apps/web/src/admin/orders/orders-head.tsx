import { useT } from '../../i18n/admin.ts'
import { useAddress } from '../../kit/use-address.ts'
import { StatisticsCards } from './statistics-cards.tsx'

/** The figures, and a note that sorting by delivery time covers only this week, because the index does. */
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
