import { useEffect, useState } from 'react'
import { onSessionChange } from '../../api/session.ts'
import { pendingPayment, type Pending } from './pending.ts'

type OpenPayment = { pending: Pending; blocked?: boolean }

/** The payment whose dialog is open, also after a reload. It is closed for whoever else is signed in, and for nobody. */
export function useOpenPayment() {
  const [payment, setPayment] = useState<OpenPayment | null>(() => {
    const pending = pendingPayment(Date.now())
    return pending && { pending }
  })
  useEffect(() => onSessionChange(() => setPayment(null)), [])
  return [payment, setPayment] as const
}
