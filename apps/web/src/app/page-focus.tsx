import { type MouseEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useLocation } from 'react-router'
import { useT } from '../i18n/index.ts'
import { skipTo, useSkipTargets } from '../kit/skip-links.ts'
import { shownTitle } from '../kit/use-title.ts'

/** Milliseconds to wait for a page's code. After that the user is doing something else, so keep the focus. */
const PATIENCE = 10_000

/** The last focused element, which may be removed before we can read `document.activeElement`. */
let held: Node | undefined
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof Node) held = target
})

/** The element that the hash names, or else the page's heading. */
const goal = (hash: string): HTMLElement | null =>
  (hash ? document.getElementById(hash.slice(1)) : null) ?? document.querySelector<HTMLElement>(`#${CONTENT} h1`)

/** Calls `take` on each DOM change until it succeeds, since the target may still be loading. @returns stops waiting */
function whenThere(take: () => boolean): () => void {
  if (take()) return () => {}
  const observer = new MutationObserver(() => take() && end())
  const timer = setTimeout(() => end(), PATIENCE)
  const end = () => {
    observer.disconnect()
    clearTimeout(timer)
  }
  observer.observe(document.body, { childList: true, subtree: true })
  return end
}

function scrollTo(hash: string): boolean {
  const part = document.getElementById(hash.slice(1))
  part?.scrollIntoView()
  return part !== null
}

/**
 * Moves the focus to the start of a new page, as a page load would, unless the user or an autofocused field has taken
 * it. `isPart`: only part of the page changed, so move the focus only if the focused element is gone.
 * @returns stops waiting
 */
function arrive(hash: string, isPart: boolean): () => void {
  const before = document.activeElement
  const take = (): boolean => {
    const active = document.activeElement
    if (isPart && held?.isConnected !== false) return false
    if (active && active !== before && active !== document.body) return true
    if (active?.closest('[role="dialog"]')) return true
    const place = goal(hash)
    if (!place) return false
    if (!place.hasAttribute('tabindex')) place.tabIndex = -1
    place.focus({ preventScroll: true })
    if (hash) place.scrollIntoView()
    return true
  }
  // In the next frame, whose layout is computed anyway. Doing it now would force an additional layout.
  let end = () => {}
  const frame = requestAnimationFrame(() => {
    end = whenThere(take)
  })
  return () => {
    cancelAnimationFrame(frame)
    end()
  }
}

/** After a navigation, scrolls to the start, moves the focus and announces the title. The first page does neither. */
export function PageFocus() {
  const { pathname, search, hash } = useLocation()
  const title = useSyncExternalStore(shownTitle.subscribe, shownTitle.current)
  const last = useRef({ pathname, search })
  const [hasMoved, setHasMoved] = useState(false)
  useEffect(() => {
    if (hash) return whenThere(() => scrollTo(hash))
    window.scrollTo(0, 0)
    return undefined
  }, [pathname, hash])
  useEffect(() => {
    const before = last.current
    if (before.pathname === pathname && before.search === search) return
    last.current = { pathname, search }
    // An automatic redirect still counts as the first page. Browsers without `userActivation` cannot tell.
    if ('userActivation' in navigator && !navigator.userActivation.hasBeenActive) return undefined
    setHasMoved(true)
    return arrive(hash, before.pathname === pathname)
    // oxlint-disable-next-line react/exhaustive-deps -- the browser itself handles a change of the hash
  }, [pathname, search])
  return (
    <p className="sr-only" role="status">
      {hasMoved ? title : ''}
    </p>
  )
}

/** The page area beside a dashboard's menu. Elsewhere CONTENT is everything between header and footer. */
export const PAGE = 'page'
export const CONTENT = 'content'

/** The first focusable elements of each page: links past the header and the menu. */
export function SkipLinks() {
  const t = useT()
  const targets = useSkipTargets()
  // Keep the address: the page uses the hash itself.
  const go = (id: string) => (event: MouseEvent) => {
    event.preventDefault()
    skipTo(id)
  }
  return (
    <>
      {targets.map(({ id, label }) => (
        <a key={id} className="skip" href={`#${id}`} onClick={go(id)}>
          {label}
        </a>
      ))}
      <a
        className="skip"
        href={`#${CONTENT}`}
        onClick={event => go(document.getElementById(PAGE) ? PAGE : CONTENT)(event)}
      >
        {t('skip')}
      </a>
    </>
  )
}
