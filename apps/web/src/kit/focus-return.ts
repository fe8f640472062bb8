import { useLayoutEffect, useRef, type RefObject } from 'react'
import { QUESTION } from '../api/use-mutation.ts'

/** Milliseconds in which what got the focus back may still lose it: it leaves the page, as the row of a deletion does, or waits. */
const WATCHED = 15_000

/** What had the focus last; for an entry of a menu the button that opens the menu. */
let last: HTMLElement | null = null
document.addEventListener('focusin', ({ target }) => {
  if (!(target instanceof HTMLElement) || target.closest(`[${QUESTION}]`)) return
  const menu = target.closest('[role="menu"]')
  const opener = menu && document.getElementById(menu.getAttribute('aria-labelledby') ?? '')
  last = opener ?? target
})

const takes = (element: HTMLElement | null | undefined): boolean => {
  if (!element?.isConnected) return false
  element.focus({ preventScroll: true })
  return document.activeElement === element
}

const isNowhere = (): boolean => !document.activeElement || document.activeElement === document.body

/** A button that waits for its call is disabled: it cannot have the focus until the answer is there. */
const waits = (element: HTMLElement | null): element is HTMLElement =>
  element !== null && element.isConnected && element.matches(':disabled')

const rowOf = (id: number | null) => document.querySelector<HTMLElement>(`[data-row="${id ?? ''}"]`)

/** Where there is neither opener nor row: the heading of the page. */
function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('h1')
  if (!heading) return
  heading.tabIndex = -1
  takes(heading)
}

/** Somebody is elsewhere already: in another part of the page, or in a dialog that the opener belongs to. */
function isElsewhere(opener: HTMLElement | null): boolean {
  const active = document.activeElement
  if (!active || isNowhere()) return false
  const dialog = active.closest('[role="dialog"]')
  return !dialog || (opener !== null && dialog.contains(opener))
}

let endWatch: (() => void) | undefined

/**
 * A row may leave the page after it got the focus back: then the focus goes on to what is left. A button that is disabled
 * while it waits has it back once it is enabled.
 */
function watch(element: HTMLElement, row: number | null): void {
  endWatch?.()
  let waited = waits(element)
  const goOn = () => {
    endWatch?.()
    if (isNowhere() && !takes(rowOf(row))) focusHeading()
  }
  const observer = new MutationObserver(() => {
    if (!element.isConnected) return goOn()
    // Also out of the dialog that is closed: it may still fade out, and takes the focus with it.
    if (waited && !waits(element) && !isElsewhere(element)) takes(element)
    waited = waits(element)
  })
  const moved = ({ target }: FocusEvent) => {
    if (target !== element) endWatch?.()
  }
  const timer = setTimeout(() => (waits(element) ? goOn() : endWatch?.()), WATCHED)
  endWatch = () => {
    observer.disconnect()
    clearTimeout(timer)
    document.removeEventListener('focusin', moved)
    endWatch = undefined
  }
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] })
  document.addEventListener('focusin', moved)
}

function giveBack(opener: HTMLElement | null, row: number | null): void {
  if (isElsewhere(opener)) return
  if (!takes(opener) && !takes(rowOf(row))) return waits(opener) ? watch(opener, row) : focusHeading()
  if (document.activeElement instanceof HTMLElement) watch(document.activeElement, row)
}

/**
 * Gives the focus back when a form, drawer or dialog closes: to what opened it (of a menu's entry: the menu's button), or
 * else to the row that it is about, or else to the page's heading. The library's own `returnFocus` is switched off beside it.
 * @param row the id of that row (`data-row`); null where it is about none
 */
export function useFocusReturn(opened: boolean, row: number | null = null): void {
  const about = useRef(row)
  if (opened) about.current = row
  const opening = useRef(0)
  useLayoutEffect(() => {
    if (!opened) return
    opening.current += 1
    const mine = opening.current
    const opener = last
    return () => {
      // After this change of the page, unless it was opened again in the same.
      queueMicrotask(() => opening.current === mine && giveBack(opener, about.current))
    }
  }, [opened])
}

/** For a button that takes itself away: `to`, which stays, has the focus from then on, or else the page's heading. */
export function passFocus(to: HTMLElement | null | undefined): void {
  if (to && !to.matches('a, button, input, select, textarea, [tabindex]')) to.tabIndex = -1
  if (!takes(to)) focusHeading()
}

/** The button of what opens in its place, as a form does: it has the focus back when that closes, unless somebody is elsewhere. */
export function useInPlace(opened: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const was = useRef(opened)
  useLayoutEffect(() => {
    if (was.current && !opened && !isElsewhere(button.current)) takes(button.current)
    was.current = opened
  }, [opened])
  return button
}
