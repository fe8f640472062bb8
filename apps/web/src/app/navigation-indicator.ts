import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'

/** The part of the address that identifies the page. Lists in dashboards change the query without the router. */
const place = () => {
  const { pathname, search } = window.location
  return pathname.startsWith('/dashboard') ? pathname : pathname + search
}

/** Marks the body from a click until the new page shows, because the router renders it later (global.css). */
export function useNavigationIndicator(): void {
  const location = useLocation()
  const shown = useRef('')
  useEffect(() => {
    shown.current = place()
    document.body.removeAttribute('data-going')
  }, [location])
  useEffect(() => {
    const look = () => void document.body.toggleAttribute('data-going', place() !== shown.current)
    // The router has already handled both events.
    document.addEventListener('click', look)
    window.addEventListener('popstate', look)
    return () => {
      document.removeEventListener('click', look)
      window.removeEventListener('popstate', look)
    }
  }, [])
}
