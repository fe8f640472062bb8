import { useRef, type ReactNode } from 'react'
import { useListKeys } from './keyboard.ts'

/** What Enter opens of a row that is no resource's: what is marked with `data-open`, or else its first link. */
const opensOf = (row: HTMLElement) => row.querySelector<HTMLElement>('[data-open]') ?? row.querySelector('a[href]')

/**
 * Gives rows inside (`data-row`, `tabIndex` -1) the keys of the console's lists: j and k move, Enter opens what the row leads to, x ticks
 * its box. A button that does something is left to whoever presses it.
 */
export function Keyed({ children }: { children: ReactNode }) {
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
