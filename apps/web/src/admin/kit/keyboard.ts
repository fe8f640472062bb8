import { useEffect, type RefObject } from 'react'
import { isForRow } from '../../kit/row-click.ts'
import { singleKeys } from './single-keys.ts'

type Keys = {
  /** Where the rows are: elements with `data-row`, in an element with `data-keys`. */
  area: RefObject<HTMLElement | null>
  search?: RefObject<HTMLInputElement | null>
  onOpen: (row: HTMLElement) => void
  onSelect: (row: HTMLElement) => void
}

const WRITES = 'input:not([type="checkbox"]), textarea, select, [contenteditable="true"]'
/** The rows that the keys go through. */
const ROWS = '[data-keys] [data-row]'

/** What the keys work on: the dialog that lies above all else, or the page. Nothing while a menu is open. */
function scopeOf(): ParentNode | undefined {
  if (document.querySelector('[role="menu"]')) return undefined
  return [...document.querySelectorAll('[role="dialog"]')].at(-1) ?? document
}

/**
 * j and k go through the rows of all lists of a page, or of the dialog that is open; x selects the row that has the focus, Enter opens it,
 * / leads to the search; `singleKeys` switches all but Enter off. Keys that are typed into a field are left to it. Each list listens; the one that has the focus acts, and the
 * first one that has rows where none has it.
 */
export function useListKeys({ area, search, onOpen, onSelect }: Keys): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest(WRITES)) return
      if (event.key.length === 1 && !singleKeys.current()) return
      const scope = scopeOf()
      const list = area.current
      if (!scope || !list || !scope.contains(list)) return
      if (event.key === '/' && search?.current) {
        search.current.focus()
        event.preventDefault()
        return
      }
      const rows = [...scope.querySelectorAll<HTMLElement>(ROWS)]
      const at = rows.findIndex(row => row.contains(document.activeElement))
      const row = rows[at]
      if (!list.contains(row ?? rows[0] ?? null)) return
      const move = (to: number) => {
        const next = rows[Math.min(Math.max(to, 0), rows.length - 1)]
        next?.focus()
        next?.scrollIntoView({ block: 'nearest' })
      }
      if (event.key === 'j') move(at + 1)
      else if (event.key === 'k') move(at === -1 ? rows.length - 1 : at - 1)
      else if (event.key === 'x' && row) onSelect(row)
      // A button or a link in the row has its own use of Enter.
      else if (event.key === 'Enter' && row && row === target) onOpen(row)
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
