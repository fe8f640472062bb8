import { lazy, type ComponentType } from 'react'
import { onlineManager } from '@tanstack/react-query'

type Code = { default: ComponentType }

/**
 * A page whose code is loaded when it is first shown. Offline that waits for the connection, instead of failing for good.
 * `preload` loads it before.
 */
export const lazyPage = (preload: () => Promise<Code>) =>
  Object.assign(
    lazy(() => loaded(preload)),
    { preload }
  )

async function loaded(load: () => Promise<Code>): Promise<Code> {
  try {
    return await load()
  } catch (error) {
    if (onlineManager.isOnline()) throw error
    await new Promise<void>(done => {
      const end = onlineManager.subscribe(online => {
        if (online) done(end())
      })
    })
    return load()
  }
}
