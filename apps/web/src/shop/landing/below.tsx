import { onlineManager } from '@tanstack/react-query'
import { Suspense, useEffect, useState, type ComponentType } from 'react'
import { currentLanguage } from '../../i18n/language.ts'
import { loadCode } from '../../kit/load-code.ts'
import { useNear } from '../../kit/use-near.ts'
import classes from './landing.module.css'

/** How far away a visitor is when it is loaded: at a glance down the page it is there. */
const MARGIN = '900px'

/** Milliseconds until it is tried again where it failed with a connection. */
const AGAIN = 5000

/** With the words of the language: without them it would be a page that waits. */
async function loadMore(): Promise<ComponentType> {
  const [{ More }] = await Promise.all([
    import('./more.tsx'),
    currentLanguage() === 'zh-CN' && import('../../i18n/landing.zh-CN.json')
  ])
  return More
}

/**
 * What stands further down, as code of its own that is loaded for who comes near it. Its place is held meanwhile, however
 * slow the line is; without a connection the page ends before it, and goes on as soon as there is one again.
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

/** The place of it, in the outline of what comes. */
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
