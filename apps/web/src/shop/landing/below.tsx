import { onlineManager } from '@tanstack/react-query'
import { Suspense, useEffect, useState, type ComponentType } from 'react'
import { currentLanguage } from '../../i18n/language.ts'
import { loadCode } from '../../kit/load-code.ts'
import { useNear } from '../../kit/use-near.ts'
import classes from './landing.module.css'

/** The distance at which it loads: a short scroll finds it ready. */
const MARGIN = '900px'

/** Milliseconds before a retry after a failure while online. */
const AGAIN = 5000

/** Load the translation as well, or the page would have to wait for it. */
async function loadMore(): Promise<ComponentType> {
  const [{ More }] = await Promise.all([
    import('./more.tsx'),
    currentLanguage() === 'zh-CN' && import('../../i18n/landing.zh-CN.json')
  ])
  return More
}

/**
 * The lower part of the landing page. Its code loads when the visitor comes near. Until then a placeholder keeps its
 * space. Offline, the page ends before it and continues when the connection returns.
 */
export function Below({ load = loadMore }: { load?: () => Promise<ComponentType> }) {
  const [ref, near] = useNear<HTMLDivElement>(MARGIN)
  const [More, setMore] = useState<ComponentType | null>(null)
  const [offline, setOffline] = useState(false)
  useEffect(() => {
    if (!near) return
    let [gone, busy] = [false, false]
    let timer: ReturnType<typeof setTimeout> | undefined
    const attempt = async () => {
      clearTimeout(timer)
      if (busy) return
      busy = true
      try {
        const loaded = await loadCode(load)
        if (!gone) setMore(() => loaded)
        end()
      } catch {
        if (gone) return
        if (onlineManager.isOnline()) timer = setTimeout(() => void attempt(), AGAIN)
        else setOffline(true)
      } finally {
        busy = false
      }
    }
    const end = onlineManager.subscribe(online => {
      if (!online) return
      setOffline(false)
      void attempt()
    })
    void attempt()
    return () => {
      gone = true
      clearTimeout(timer)
      end()
    }
  }, [near, load])
  return (
    <div ref={ref}>
      {More ? (
        <Suspense fallback={<Held />}>
          <More />
        </Suspense>
      ) : (
        !offline && <Held />
      )}
    </div>
  )
}

const [SECTIONS, CARDS] = [4, 3]

/** A placeholder with the outline of what follows. */
const Held = () => (
  <div className={classes.held} aria-hidden>
    {Array.from({ length: SECTIONS }, (_, section) => (
      <div key={section} className={`wide ${classes.heldCards}`}>
        {Array.from({ length: CARDS }, (_card, card) => (
          <div key={card} className="card" />
        ))}
      </div>
    ))}
  </div>
)
