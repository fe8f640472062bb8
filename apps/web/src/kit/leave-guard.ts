import { useEffect, useLayoutEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { t } from '../i18n/index.ts'
import { confirm, questions } from './confirm.ts'
import { guardHistory, guardLeaving } from './leaving.ts'

/** A view or form that asks before its changes are lost. */
type Guard = {
  /** Whether it has unsaved changes. */
  guards: () => boolean
  /** Whether it stays open at this address. */
  staysAt: (address: URL | Location) => boolean
  /** Discards its changes. */
  release: () => void
  /** Whether a draft keeps its changes beyond an expired session. */
  keepsDraft: () => boolean
}

const guards = new Set<Guard>()
/** The guards in the open question. */
let asked: Guard[] = []
/** This page's history entry. After Back it can no longer be read. */
let entry: { state: unknown; address: string } = { state: null, address: '' }
let uninstall: (() => void) | undefined

const indexOf = (state: unknown): number => (state as { idx?: number } | null)?.idx ?? 0
const guarding = (leaves: (guard: Guard) => boolean) => [...guards].filter(guard => guard.guards() && leaves(guard))

/** Asks once for all of them. While a question is open, the answer to others is no. */
async function mayLeave(left: Guard[]): Promise<boolean> {
  if (left.length === 0) return true
  if (asked.length > 0) return false
  asked = left
  const yes = await confirm({ title: t('discard.title'), body: t('discard.body'), danger: true })
  asked = []
  if (yes) for (const guard of left) guard.release()
  return yes
}

/** Withdraws the question when the changes it concerns have been saved. */
function withdrawQuestion(): void {
  if (asked.length > 0 && !asked.some(guard => guard.guards())) questions.current()?.answer(false)
}

/** Listens to every way out of a page. One set of listeners serves all guards. */
function install(): () => void {
  const endGuard = guardLeaving({
    ask: () => mayLeave(guarding(() => true)),
    isUnsaved: drafts => guarding(guard => drafts === 'with drafts' || !guard.keepsDraft()).length > 0
  })
  const warn = (event: BeforeUnloadEvent) => {
    if (guarding(() => true).length > 0) event.preventDefault()
  }
  const goOn = async (left: Guard[], leave: () => void) => {
    if (await mayLeave(left)) leave()
  }
  const click = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link?.href || link.target === '_blank' || link.hasAttribute('download')) return
    const to = new URL(link.href)
    const left = guarding(guard => !guard.staysAt(to))
    if (left.length === 0) return
    event.preventDefault()
    event.stopPropagation()
    void goOn(left, () => link.click())
  }
  const pop = (event: PopStateEvent) => {
    const left = guarding(guard => !guard.staysAt(window.location))
    if (left.length === 0) return
    // Stop the router and restore this view's address until the user answers.
    event.stopImmediatePropagation()
    // Entries that differ only in their parameters share an index. In that case push the view's entry again.
    const steps = indexOf(entry.state) - indexOf(event.state)
    // Call the prototype to bypass nuqs, which would drop a pending change of the address and close the form.
    if (steps === 0) History.prototype.pushState.call(window.history, entry.state, '', entry.address)
    else window.history.go(steps)
    void goOn(left, () => window.history.go(-steps || -1))
  }
  window.addEventListener('beforeunload', warn)
  const endHistory = guardHistory(pop)
  document.addEventListener('click', click, { capture: true })
  return () => {
    endGuard()
    endHistory()
    window.removeEventListener('beforeunload', warn)
    document.removeEventListener('click', click, { capture: true })
  }
}

export type LeaveOptions = {
  /** The parameter that opens it and its value. Without it, the view is open at any parameters. */
  param?: { name: string; value: string | null }
  /** Closes it when its changes are discarded, if a new address does not. */
  onRelease?: () => void
  /** `draftOf` keeps what is typed. */
  keepsDraft?: boolean
}

/**
 * Asks before a view, form or dialog with unsaved changes is left by a link, Back, Forward, the palette or closing the
 * tab. It belongs to the path at which it renders. `param` has its own value because the router updates only after the
 * form renders, when the user may have typed.
 * @returns `mark` sets whether there are changes, without a render; `isUnsaved` tells; `release` after saving or
 * discarding; `mayLeave` asks, for the view's own buttons
 */
export function useLeaveGuard(dirty: boolean, options: LeaveOptions = {}) {
  const { pathname, key } = useLocation()
  const state = useRef({ dirty, released: false, pathname, options })
  const mark = useRef((now: boolean) => {
    if (!now) state.current.released = false
    state.current.dirty = now
    if (now) entry = { state: window.history.state, address: window.location.href }
  }).current
  useLayoutEffect(() => mark(dirty), [mark, dirty])
  useLayoutEffect(() => {
    Object.assign(state.current, { pathname, options })
  })
  useEffect(() => {
    entry = { state: window.history.state, address: window.location.href }
  }, [key])
  const own = useRef<Guard>({
    guards: () => state.current.dirty && !state.current.released,
    staysAt: ({ href, pathname: path, search: query }) => {
      const {
        pathname: here,
        options: { param, onRelease }
      } = state.current
      // A view that does not close with the address belongs to exactly this one.
      if (onRelease) return href === entry.address
      return path === here && (!param || new URLSearchParams(query).get(param.name) === param.value)
    },
    release: () => {
      state.current.released = true
      withdrawQuestion()
      state.current.options.onRelease?.()
    },
    keepsDraft: () => state.current.options.keepsDraft ?? false
  }).current
  useEffect(() => {
    if (guards.size === 0) uninstall = install()
    guards.add(own)
    return () => {
      guards.delete(own)
      if (guards.size === 0) uninstall?.()
    }
  }, [own])
  return { mark, isUnsaved: own.guards, release: own.release, mayLeave: () => mayLeave(own.guards() ? [own] : []) }
}
