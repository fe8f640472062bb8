import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { useAddress } from '../../kit/use-address.ts'

/** What somebody chose for the menu, in a window of which width, and on which page. */
type Choice = { open: boolean; narrow: boolean; pathname: string }

/**
 * Whether the dashboard's menu and full view are open. Beside the page the menu is open until it is closed, over it (in a
 * narrow window) it is closed, and closes with each step to another page. Both are in the address: `menu`, `full`.
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
  // Never a choice that was made for the other width: what a resize brings along is nobody's choice.
  const counts = choice !== null && choice.narrow === narrow && (!narrow || choice.pathname === pathname)
  const open = counts ? choice.open : usual
  useEffect(() => {
    change({ menu: open === usual ? null : open ? 'open' : 'closed', full: full ? 1 : null })
  }, [change, open, usual, full, pathname])
  return { open, setOpen: (next: boolean) => setChoice({ open: next, narrow, pathname }), full, setFull }
}
