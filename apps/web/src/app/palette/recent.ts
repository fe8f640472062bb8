import { useEffect, useSyncExternalStore } from 'react'
import { useLocation } from 'react-router'
import { useSession } from '../../api/session.ts'
import { shownTitle } from '../../kit/use-title.ts'
import { screenAt } from '../manifest.ts'

type Visit = { to: string; label: string }

const KEY = 'netlet-recent'
const KEPT = 8

/** The console pages that this tab visited last, newest first, for `user` only. */
function read(user: number): readonly Visit[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as { user?: unknown; visits?: unknown } | null
    if (kept?.user !== user || !Array.isArray(kept.visits)) return []
    return (kept.visits as Partial<Visit>[]).flatMap(({ to, label }) =>
      typeof to === 'string' && typeof label === 'string' ? [{ to, label }] : []
    )
  } catch {
    return []
  }
}

function remember(user: number, visit: Visit): void {
  const visits = [visit, ...read(user).filter(({ to }) => to !== visit.to)].slice(0, KEPT)
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ user, visits }))
  } catch {
    // Without session storage there are no recent pages.
  }
}

/** Records each console page by its title. @returns the earlier ones */
export function useRecent(): () => readonly Visit[] {
  const { pathname } = useLocation()
  const { user } = useSession()
  const title = useSyncExternalStore(shownTitle.subscribe, shownTitle.current)
  const id = user?.id
  useEffect(() => {
    if (id !== undefined && title && screenAt(pathname)?.role === 'admin') remember(id, { to: pathname, label: title })
  }, [id, pathname, title])
  return () => (id === undefined ? [] : read(id).filter(({ to }) => to !== pathname))
}
