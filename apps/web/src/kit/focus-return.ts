import { useLayoutEffect, useRef, type RefObject } from 'react'
import { QUESTION } from '../api/use-mutation.ts'

/** Milliseconds to watch an element that got the focus back. It may still be removed or disabled. */
const WATCHED = 15_000

/** The last focused element; for a menu entry, the button of the menu. */
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

/** A button is disabled while its call is in flight and cannot have the focus. */
const waits = (element: HTMLElement | null): element is HTMLElement =>
  element !== null && element.isConnected && element.matches(':disabled')

const rowOf = (id: number | null) => document.querySelector<HTMLElement>(`[data-row="${id ?? ''}"]`)

/** The fallback if neither opener nor row is there. */
function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('h1')
  if (!heading) return
  heading.tabIndex = -1
  takes(heading)
}

/** The focus is already in another part of the page, or in a dialog that contains the opener. */
function isElsewhere(opener: HTMLElement | null): boolean {
  const active = document.activeElement
  if (!active || active === opener || isNowhere()) return false
  const dialog = active.closest('[role="dialog"]')
  return !dialog || (opener !== null && dialog.contains(opener))
}

let endWatch: (() => void) | undefined

const dialogs = (): Element[] => [...document.querySelectorAll('[role="dialog"]')]

/**
 * If the element is removed, moves the focus on. If it is disabled, focuses it once it is enabled.
 * @param closing dialogs that fade out and must not get the focus
 */
function watch(element: HTMLElement, row: number | null, closing: Element[]): void {
  endWatch?.()
  let waited = waits(element)
  const goOn = () => {
    endWatch?.()
    if (isNowhere() && !takes(rowOf(row))) focusHeading()
  }
  const observer = new MutationObserver(() => {
    if (!element.isConnected) return goOn()
    // The closing dialog may still be fading out with the focus in it.
    if (waited && !waits(element) && !isElsewhere(element)) takes(element)
    waited = waits(element)
  })
  const moved = ({ target }: FocusEvent) => {
    if (target === element) return
    // The library focuses a dialog in a timer, which may end after the dialog was closed.
    if (!closing.some(dialog => dialog.contains(target as Node))) endWatch?.()
    else if (!waits(element)) takes(element)
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

function giveBack(opener: HTMLElement | null, row: number | null, closing: Element[]): void {
  if (isElsewhere(opener)) return
  if (!takes(opener) && !takes(rowOf(row))) return waits(opener) ? watch(opener, row, closing) : focusHeading()
  if (document.activeElement instanceof HTMLElement) watch(document.activeElement, row, closing)
}

/**
 * Returns the focus when a form, drawer or dialog closes: to what opened it (for a menu entry, the menu's button), else
 * to its row, else to the page's heading. Turn the library's `returnFocus` off.
 * @param row the row's id (`data-row`); null if there is none
 */
export function useFocusReturn(opened: boolean, row: number | null = null): void {
  const about = useRef(row)
  if (opened) about.current = row
  const opening = useRef(0)
  useLayoutEffect(() => {
    if (!opened) return
    endWatch?.()
    opening.current += 1
    const mine = opening.current
    const opener = last
    // Neither this dialog nor one that opens in the render that closes it is in the page yet.
    const below = new Set(dialogs())
    return () => {
      const closing = dialogs().filter(dialog => !below.has(dialog))
      // After this render, unless it opened again in the same one.
      queueMicrotask(() => opening.current === mine && giveBack(opener, about.current, closing))
    }
  }, [opened])
}

/** Call this when a button removes itself: moves the focus to `to`, else to the page's heading. */
export function passFocus(to: HTMLElement | null | undefined): void {
  if (to && !to.matches('a, button, input, select, textarea, [tabindex]')) to.tabIndex = -1
  if (!takes(to)) focusHeading()
}

/** For a button replaced by what it opens: it gets the focus back when that closes, unless the focus is elsewhere. */
export function useFocusAfterReplace(opened: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const was = useRef(opened)
  useLayoutEffect(() => {
    if (was.current && !opened && !isElsewhere(button.current)) takes(button.current)
    was.current = opened
  }, [opened])
  return button
}
