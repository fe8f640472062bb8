import { lazyPage } from './lazy-page.ts'
import { loadScreen } from './load-screens.ts'
import { screenAt } from './manifest.ts'

/** The frame of both dashboards. */
export const Dashboard = lazyPage(() => import('./shell/dashboard.tsx'))

/** Loads what is shown at an address of the shop or the customer's dashboard: the page at once with its frame, not after it. */
export function preloadAt(pathname: string): void {
  const screen = screenAt(pathname)
  if (!screen || screen.role === 'admin') return
  if (screen.role === 'customer') void Dashboard.preload().catch(() => undefined)
  void loadScreen(screen)
}

/** Has `found` hear of each link within the shop that somebody points at, or reaches with the keyboard. @returns how to end it */
export function watchLinks(
  found: (link: HTMLAnchorElement, event: string) => void,
  events: readonly string[] = ['pointerover', 'focusin']
): () => void {
  const listen = ({ type, target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null
    if (link?.origin === window.location.origin) found(link, type)
  }
  // Before the router hears of a click.
  for (const event of events) document.addEventListener(event, listen, { capture: true, passive: true })
  return () => {
    for (const event of events) document.removeEventListener(event, listen, { capture: true })
  }
}
