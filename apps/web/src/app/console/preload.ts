import { mayOperate, type OperatorRole } from '@netlet/contract/permissions'
import { useEffect, useMemo } from 'react'
import { readFirstPage } from '../../admin/kit/use-list.ts'
import { useSession } from '../../api/session.ts'
import { loadScreen, loadWhenIdle, type Screen } from '../load-screens.ts'
import { pathOf, screenAt, screens } from '../manifest.ts'
import { watchLinks } from '../preload.ts'
import { lists } from './lists.ts'

/**
 * Loads the console's screens before they open: the code on hover, the code and rows on click, and the code of all
 * others one by one when the first screen has its data and the browser is idle.
 */
export function Preload(): null {
  const { user } = useSession()
  const role = user?.operator_role ?? null
  const allowed = useMemo(() => screensOf(role), [role])
  useEffect(() => watchConsoleLinks(allowed), [allowed])
  useEffect(() => loadWhenIdle(allowed), [allowed])
  return null
}

const screensOf = (operator: OperatorRole | null) =>
  screens.filter(({ role, permission }) => role === 'admin' && permission && mayOperate(operator, permission))

/** @returns stops watching */
function watchConsoleLinks(allowed: Screen[]): () => void {
  return watchLinks(
    (link, event) => {
      const screen = screenAt(link.pathname)
      if (!screen || !allowed.includes(screen)) return
      void loadScreen(screen)
      const list = lists[screen.id]
      const isPlain = link.pathname === pathOf(screen.id) && !link.search
      if (list && isPlain && (event === 'pointerdown' || event === 'click')) readFirstPage(...list)
    },
    ['pointerover', 'focusin', 'pointerdown', 'click']
  )
}
