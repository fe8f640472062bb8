import { lazyPage } from './lazy-page.ts'
import { loadScreen } from './load-screens.ts'
import { screenAt } from './manifest.ts'

/** The frame of both dashboards. */
export const Dashboard = lazyPage(() => import('./shell/dashboard.tsx'))

/** Loads the page at an address of the shop or the customer's dashboard, in parallel with its frame. */
export function preloadAt(pathname: string): void {
  const screen = screenAt(pathname)
  if (!screen || screen.role === 'admin') return
  if (screen.role !== 'public') void Dashboard.preload().catch(() => undefined)
  void loadScreen(screen)
}

/** Calls `found` for each internal link that is hovered or focused. @returns stops watching */
export function watchLinks(
  found: (link: HTMLAnchorElement, event: string) => void,
  events: readonly string[] = ['pointerover', 'focusin']
): () => void {
  const listen = ({ type, target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null
    if (link?.origin === window.location.origin) found(link, type)
  }
  // Capture, to run before the router handles a click.
  for (const event of events) document.addEventListener(event, listen, { capture: true, passive: true })
  return () => {
    for (const event of events) document.removeEventListener(event, listen, { capture: true })
  }
}
