import { type RefObject, useEffect } from 'react'
import { isForRow } from '../../kit/data-table.tsx'

type Keys = {
  /** The element with `data-keys` whose rows have `data-row`. */
  area: RefObject<HTMLElement | null>
  search?: RefObject<HTMLInputElement | null>
  onOpen: (row: HTMLElement) => void
  onSelect: (row: HTMLElement) => void
}

const WRITES = 'input:not([type="checkbox"]), textarea, select, [contenteditable="true"]'
/** The rows that keys move through. */
const ROWS = '[data-keys] [data-row]'

/** Where keys apply: the topmost dialog, or the page. Nowhere while a menu is open. */
function scopeOf(): ParentNode | undefined {
  if (document.querySelector('[role="menu"]')) return undefined
  return [...document.querySelectorAll('[role="dialog"]')].at(-1) ?? document
}

/**
 * Keyboard shortcuts: j and k move through the rows of all lists of the page or open dialog, x selects the focused row,
 * Enter opens it, / goes to the search. `singleKeys` turns all but Enter off, and fields keep their keys. Each list
 * listens; the focused one acts, or else the first one with rows.
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
      // A button or link in the row handles Enter itself.
      else if (event.key === 'Enter' && row && row === target) onOpen(row)
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  })
}

/** Opens a row on a click outside its controls that does not end a text selection. */
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

/** The browser's storage key for "off". */
const KEY = 'netlet-single-keys'

function isKeptOff(): boolean {
  try {
    return localStorage.getItem(KEY) === 'off'
  } catch {
    return false
  }
}

let on = !isKeptOff()
const listeners = new Set<() => void>()

/** Whether single keys (j, k, x, /) are active. Speech input needs them off (WCAG 2.1.4). Kept in this browser. */
export const singleKeys = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: () => on,
  set(next: boolean): void {
    on = next
    try {
      if (next) localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, 'off')
    } catch {
      // Without storage it lasts until the page closes.
    }
    for (const listener of listeners) listener()
  }
}
