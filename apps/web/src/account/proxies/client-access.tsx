import type { Order } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconShieldLock } from '@tabler/icons-react'
import { useState } from 'react'
import { useT } from '../../i18n/proxies.ts'
import { ClientAccessDialog } from '../../kit/client-access-dialog.tsx'
import { hasProxies } from '../../kit/order-obstacles.ts'

/** The button and dialog for how clients authenticate at an order's proxies. */
export function ClientAccessButton({ order }: { order: Order | undefined }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<IconShieldLock size={16} aria-hidden />}
        disabled={!order || !hasProxies(order)}
        onClick={() => setOpen(true)}
      >
        {t('clients.open')}
      </Button>
      {order && open && <ClientAccessDialog orderId={order.id} onClose={() => setOpen(false)} />}
    </>
  )
}
