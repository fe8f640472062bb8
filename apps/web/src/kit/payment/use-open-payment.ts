import { useEffect, useState } from 'react'
import { onSessionChange } from '../../api/session.ts'
import { pendingPayment, type Pending } from './pending.ts'

type OpenPayment = { pending: Pending; blocked?: boolean }

/** The open payment dialog's payment, restored after a reload. It closes when the signed-in user changes. */
export function useOpenPayment() {
  const [payment, setPayment] = useState<OpenPayment | null>(() => {
    const pending = pendingPayment(Date.now())
    return pending && { pending }
  })
  useEffect(() => onSessionChange(() => setPayment(null)), [])
  return [payment, setPayment] as const
}
