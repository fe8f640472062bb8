import { pageAt } from '@netlet/contract/pages'
import { useLocation, useNavigate } from 'react-router'

export const LIST = pageAt('productManager')
export const ADD = `${LIST}/new`
export const editPath = (id: number): string => `${LIST}/${id}`

/** Returns to the list in its former state. */
export function useBack() {
  const navigate = useNavigate()
  const { state } = useLocation()
  const list = (state as { list?: unknown } | null)?.list
  return ({ replace = false } = {}) => void navigate(LIST + (typeof list === 'string' ? list : ''), { replace })
}
