import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { useAddress } from '../../kit/use-address.ts'

/** The user's choice for the menu, with the window's width and the page it was made for. */
type Choice = { open: boolean; narrow: boolean; pathname: string }

/**
 * Whether the dashboard's menu and full view are open. Beside the page, the menu is open by default. In a narrow window
 * it covers the page: it is closed by default and closes on navigation. The address keeps both as `menu` and `full`.
 */
export function useShellState(narrow: boolean) {
  const { query, change } = useAddress()
  const { pathname } = useLocation()
  const usual = !narrow
  const [choice, setChoice] = useState<Choice | null>(() => {
    const menu = query.get('menu')
    return menu === 'open' || menu === 'closed' ? { open: menu === 'open', narrow, pathname } : null
  })
  const [full, setFull] = useState(query.get('full') === '1')
  // Ignore a choice made at the other width: resizing the window is not a choice.
  const counts = choice !== null && choice.narrow === narrow && (!narrow || choice.pathname === pathname)
  const open = counts ? choice.open : usual
  useEffect(() => {
    change({ menu: open === usual ? null : open ? 'open' : 'closed', full: full ? 1 : null })
  }, [change, open, usual, full, pathname])
  return { open, setOpen: (next: boolean) => setChoice({ open: next, narrow, pathname }), full, setFull }
}
