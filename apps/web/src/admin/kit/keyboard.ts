import { useEffect, type RefObject } from 'react'
import { isForRow } from '../../kit/row-click.ts'

type Keys = {
  /** Where the rows are: elements with `data-row`. */
  area: RefObject<HTMLElement | null>
  search: RefObject<HTMLInputElement | null>
  onOpen: (id: number) => void
  onSelect: (id: number) => void
}

const WRITES = 'input:not([type="checkbox"]), textarea, select, [contenteditable="true"]'

/**
 * j and k go through the rows, x selects the one that has the focus, Enter opens it, / leads to the search, Escape back from it. Keys that
 * are typed into a field, or while a dialog or a menu is open, are left to these.
 */
export function useListKeys({ area, search, onOpen, onSelect }: Keys): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (target.closest(WRITES) || document.querySelector('[role="dialog"], [role="menu"]')) return
      const rows = [...(area.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
      const at = rows.findIndex(row => row.contains(document.activeElement))
      const id = Number(rows[at]?.dataset['row'])
      const move = (to: number) => {
        const row = rows[Math.min(Math.max(to, 0), rows.length - 1)]
        row?.focus()
        row?.scrollIntoView({ block: 'nearest' })
      }
      if (event.key === '/') search.current?.focus()
      else if (event.key === 'j') move(at + 1)
      else if (event.key === 'k') move(at === -1 ? rows.length - 1 : at - 1)
      else if (event.key === 'x' && at >= 0) onSelect(id)
      // A button or a link in the row has its own use of Enter.
      else if (event.key === 'Enter' && rows[at] === target) onOpen(id)
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  })
}

/** A click on a row, beside what it holds to be clicked and not at the end of marking text, opens it. */
export function useRowClick(area: RefObject<HTMLElement | null>, onOpen: ((id: number) => void) | undefined): void {
  useEffect(() => {
    const rows = area.current
    if (!rows || !onOpen) return
    const listen = ({ target }: MouseEvent) => {
      const row = (target as HTMLElement).closest<HTMLElement>('[data-row]')
      if (!row || !isForRow(target)) return
      onOpen(Number(row.dataset['row']))
    }
    rows.addEventListener('click', listen)
    return () => rows.removeEventListener('click', listen)
  })
}
