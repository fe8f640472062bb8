import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useLocation } from 'react-router'
import { shownTitle } from '../kit/use-title.ts'
import { CONTENT } from './skip-links.tsx'

/** Milliseconds in which a page's code has to come for the focus or the view to go to it: afterwards somebody is doing something else. */
const PATIENCE = 10_000

/** What had the focus last. It may be gone before anybody can look which element has the focus. */
let held: Node | undefined
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof Node) held = target
})

/** What the address names on the page, or else its heading. */
const goal = (hash: string): HTMLElement | null =>
  (hash ? document.getElementById(hash.slice(1)) : null) ?? document.querySelector<HTMLElement>(`#${CONTENT} h1`)

/** Tries until something is done, as what it is done to may still have to be loaded, and gives back what ends the waiting. */
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

/** Brings what `#` names into sight. */
function scrollTo(hash: string): boolean {
  const part = document.getElementById(hash.slice(1))
  part?.scrollIntoView()
  return part !== null
}

/**
 * Puts the focus at the beginning of a page that was gone to, as loading it would, and gives back what ends the waiting for
 * it. Somebody who has moved the focus meanwhile, or a field or dialog that takes it by itself, keeps it. `isPart`: only a
 * part of the page is another one, so that the focus goes on only where what had it is gone.
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
  // With the next picture: its layout is worked out then in any case, and before it each later change would need another one.
  let end = () => {}
  const frame = requestAnimationFrame(() => {
    end = whenThere(take)
  })
  return () => {
    cancelAnimationFrame(frame)
    end()
  }
}

/** After a step to another page: its beginning in sight, the focus there, and its title told. The first page keeps both. */
export function Arrival() {
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
    // An address that leads on to another one by itself: still the first page. Some browsers do not tell.
    if ('userActivation' in navigator && !navigator.userActivation.hasBeenActive) return undefined
    setHasMoved(true)
    return arrive(hash, before.pathname === pathname)
    // oxlint-disable-next-line react/exhaustive-deps -- what is behind # is the browser's to go to
  }, [pathname, search])
  return (
    <p className="sr-only" role="status">
      {hasMoved ? title : ''}
    </p>
  )
}
