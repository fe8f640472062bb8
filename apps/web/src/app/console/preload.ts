import { mayOperate, type OperatorRole } from '@netlet/contract/permissions'
import { useIsFetching } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { matchPath } from 'react-router'
import { readFirstPage } from '../../admin/kit/use-list.ts'
import { queryClient } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { pathOf, screens } from '../manifest.ts'
import { lists } from './lists.ts'

type Screen = (typeof screens)[number]

/** Milliseconds until a browser that does not tell when it is idle is taken to be. */
const IDLE = 200

/**
 * Loads the console's screens before they are opened: the code of one that somebody points at; code and rows, both at
 * once, of one that is clicked; and the code of all others, one after the other, once the first screen has its answers
 * and the browser is idle.
 */
export function Preload(): null {
  const { user } = useSession()
  const quiet = useIsFetching() === 0
  const [stands, setStands] = useState(false)
  if (quiet && !stands) setStands(true)
  const role = user?.operator_role ?? null
  const allowed = useMemo(() => screensOf(role), [role])
  useEffect(() => watchLinks(allowed), [allowed])
  useEffect(() => (stands ? loadAll(allowed) : undefined), [stands, allowed])
  return null
}

const screensOf = (operator: OperatorRole | null) =>
  screens.filter(({ role, permission }) => role === 'admin' && permission && mayOperate(operator, permission))

/** @returns how to end it */
function watchLinks(allowed: Screen[]): () => void {
  const listen = ({ type, target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null
    if (!link || link.origin !== window.location.origin) return
    const screen = allowed.find(({ path }) => matchPath(path, link.pathname))
    if (!screen) return
    void load(screen)
    const list = lists[screen.id]
    const isPlain = link.pathname === pathOf(screen.id) && !link.search
    if (list && isPlain && (type === 'pointerdown' || type === 'click')) readFirstPage(...list)
  }
  const events = ['pointerover', 'focusin', 'pointerdown', 'click'] as const
  // Before the router hears of the click.
  for (const event of events) document.addEventListener(event, listen, { capture: true, passive: true })
  return () => {
    for (const event of events) document.removeEventListener(event, listen, { capture: true })
  }
}

/** @returns how to end it */
function loadAll(allowed: Screen[]): () => void {
  let ended = false
  const loadInTurn = async () => {
    for (const screen of allowed) {
      // What somebody has clicked meanwhile comes first.
      await answers()
      await idleness()
      if (ended || !(await load(screen))) return
    }
  }
  void loadInTurn()
  return () => {
    ended = true
  }
}

/** Waits until nothing is asked of the server. */
const answers = () =>
  new Promise<void>(done => {
    if (queryClient.isFetching() === 0) return done()
    const end = queryClient.getQueryCache().subscribe(() => {
      if (queryClient.isFetching() > 0) return
      end()
      done()
    })
  })

const idleness = () =>
  new Promise<void>(done => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => done())
    else setTimeout(done, IDLE)
  })

/** @returns whether the code is there; where it is not, opening the screen tries again and says so */
async function load({ page }: Screen): Promise<boolean> {
  try {
    await page.preload?.()
    return true
  } catch {
    return false
  }
}
