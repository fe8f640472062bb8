import { useRef, type ReactNode } from 'react'
import { useListKeys } from './keyboard.ts'

/** What Enter opens in such a row: the element with `data-open`, else its first link. */
const opensOf = (row: HTMLElement) => row.querySelector<HTMLElement>('[data-open]') ?? row.querySelector('a[href]')

/**
 * Gives rows outside a resource (`data-row`, `tabIndex` -1) the list's shortcuts: j and k move, Enter opens the row's
 * link, x ticks its box. Keys never press other buttons.
 */
export function KeyboardRows({ children }: { children: ReactNode }) {
  const area = useRef<HTMLDivElement>(null)
  useListKeys({
    area,
    onOpen: row => opensOf(row)?.click(),
    onSelect: row => row.querySelector<HTMLElement>('input[type="checkbox"]')?.click()
  })
  return (
    <div ref={area} data-keys>
      {children}
    </div>
  )
}
