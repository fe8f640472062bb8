import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'

/** What the address says of the page. Of lists in dashboards it says more, that is written past the router. */
const place = () => {
  const { pathname, search } = window.location
  return pathname.startsWith('/dashboard') ? pathname : pathname + search
}

/**
 * Marks the page from a click until the place that it leads to is shown (the line at the window's top, in global.css): the
 * router changes the address at once, and draws the place when it can.
 */
export function useGoing(): void {
  const location = useLocation()
  const shown = useRef('')
  useEffect(() => {
    shown.current = place()
    document.body.removeAttribute('data-going')
  }, [location])
  useEffect(() => {
    const look = () => void document.body.toggleAttribute('data-going', place() !== shown.current)
    // The router has heard of both by then.
    document.addEventListener('click', look)
    window.addEventListener('popstate', look)
    return () => {
      document.removeEventListener('click', look)
      window.removeEventListener('popstate', look)
    }
  }, [])
}
