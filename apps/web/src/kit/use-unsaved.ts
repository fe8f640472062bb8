import { useEffect, useRef } from 'react'
import { guardHistory, guardLeaving } from './leaving.ts'

type Unsaved = {
  isUnsaved: () => boolean
  /** Asks whether it may be lost. */
  ask: () => Promise<boolean>
  /** It is lost, or saved. */
  release: () => void
}

/** Asks before what was typed into a dialog is lost by the browser's back, by the command palette, or with the tab. */
export function useUnsaved(of: Unsaved): void {
  const now = useRef(of)
  now.current = of
  useEffect(() => {
    const entry = { state: window.history.state as unknown, address: window.location.href }
    let asking = false
    const mayLeave = async () => {
      const { isUnsaved, ask, release } = now.current
      if (!isUnsaved()) return true
      if (asking) return false
      asking = true
      const yes = await ask()
      asking = false
      if (yes) release()
      return yes
    }
    const endLeaving = guardLeaving({ ask: mayLeave, isUnsaved: () => now.current.isUnsaved() })
    const endHistory = guardHistory(event => {
      if (!now.current.isUnsaved()) return
      // Before the router hears of it: the address stays that of the dialog until there is an answer.
      event.stopImmediatePropagation()
      History.prototype.pushState.call(window.history, entry.state, '', entry.address)
      void mayLeave().then(yes => yes && window.history.back())
    })
    const warn = (event: BeforeUnloadEvent) => {
      if (now.current.isUnsaved()) event.preventDefault()
    }
    window.addEventListener('beforeunload', warn)
    return () => {
      endLeaving()
      endHistory()
      window.removeEventListener('beforeunload', warn)
    }
  }, [])
}
