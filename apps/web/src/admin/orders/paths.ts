import { pageAt } from '@netlet/contract/pages'
import { useState } from 'react'
import { useLocation } from 'react-router'

const LIST = pageAt('Orders')
export const pathOfOrder = (id: number): string => pageAt('order', { id })

/** The list's address when this page was opened from it, else the plain list. */
export function useListLeft(): string {
  const { state } = useLocation()
  const from = (state as { from?: unknown } | null)?.from
  const [left] = useState(typeof from === 'string' && /^\/dashboard\/index\/orders([/?]|$)/.test(from) ? from : LIST)
  return left
}
