import { onlineManager } from '@tanstack/react-query'
import { Suspense, useEffect, useState, type ComponentType } from 'react'
import { currentLanguage } from '../../i18n/language.ts'
import { loadCode } from '../../kit/load-code.ts'
import { useNear } from '../../kit/use-near.ts'
import classes from './landing.module.css'

/** How far away a visitor is when it is loaded: at a glance down the page it is there. */
const MARGIN = '900px'

/** With the words of the language: without them it would be a page that waits. */
async function load(): Promise<ComponentType> {
  const [{ More }] = await Promise.all([
    import('./more.tsx'),
    currentLanguage() === 'zh-CN' && import('../../i18n/landing.zh-CN.json')
  ])
  return More
}

/**
 * What stands further down, as code of its own that is loaded for who comes near it. Its place is held meanwhile; where it
 * cannot be loaded the page ends before it, and goes on as soon as there is a connection again.
 */
export function Below() {
  const [ref, near] = useNear<HTMLDivElement>(MARGIN)
  const [More, setMore] = useState<ComponentType | null>(null)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    if (!near) return
    let gone = false
    const attempt = () =>
      loadCode(load).then(
        loaded => !gone && setMore(() => loaded),
        () => !gone && setFailed(true)
      )
    void attempt()
    const end = onlineManager.subscribe(online => {
      if (online) void attempt()
    })
    return () => {
      gone = true
      end()
    }
  }, [near])
  return (
    <div ref={ref} className={More || failed ? undefined : classes.held}>
      {More && (
        <Suspense fallback={<div className={classes.held} />}>
          <More />
        </Suspense>
      )}
    </div>
  )
}
