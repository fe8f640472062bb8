import type { Order } from '@netlet/contract'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { ClientAccessDialog } from '../../kit/client-access-dialog.tsx'
import { whyNoProxies } from '../../kit/order-may.ts'
import { Moment } from '../../kit/time.tsx'
import { FactList, May, UnavailableHint, type Fact } from '../kit/index.ts'
import { obstacle } from './why-not.ts'

export function OrderClientAccess({ order }: { order: Order }) {
  const t = useT()
  const { data, error } = useQuery(read(orders.clientAccess, { params: { id: order.id } }))
  if (error) return <p role="alert">{failureText(error)}</p>
  if (!data) return null
  const facts: Fact[] = [
    [t('orders.clientAccess'), t(`orders.clientAccess.${data.access}`)],
    [t('orders.clientIps'), data.client_ips.length > 0 && <span className="mono">{data.client_ips.join(', ')}</span>],
    [t('orders.clientAccessChanged'), data.changed_at && <Moment at={data.changed_at} ago />],
    [t('orders.clientAccessPending'), data.is_pending && t('orders.clientAccessOnItsWay')]
  ]
  return (
    <>
      <FactList label={t('orders.clientAccess')} facts={facts} />
      <May make={orders.setClientAccess}>
        <ChangeAccess order={order} />
      </May>
    </>
  )
}

/** An operator changes it for the customer. The audit log records who did. */
function ChangeAccess({ order }: { order: Order }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  const why = obstacle(whyNoProxies(order))
  return (
    <p>
      <UnavailableHint why={why && t(why)}>
        <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
          {t('orders.clientAccessChange')}
        </Button>
      </UnavailableHint>
      {open && <ClientAccessDialog orderId={order.id} ofOperator onClose={() => setOpen(false)} />}
    </p>
  )
}
