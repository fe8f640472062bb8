import { useEffect, useLayoutEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { t } from '../i18n/index.ts'
import { confirm, questions } from './confirm.ts'
import { guardHistory, guardLeaving } from './leaving.ts'

/** A view or a form whose changes are not lost unasked. */
type Guard = {
  /** Whether something of it is not saved. */
  guards: () => boolean
  /** Whether it is still open at this address. */
  staysAt: (address: URL | Location) => boolean
  /** Its changes are given up. */
  release: () => void
  /** Whether its changes are there again after a session that ended. */
  keepsDraft: () => boolean
}

const guards = new Set<Guard>()
/** What somebody is being asked about. */
let asked: Guard[] = []
/** This page's entry of the history: after the browser went back it is too late to see. */
let entry: { state: unknown; address: string } = { state: null, address: '' }
let uninstall: (() => void) | undefined

const indexOf = (state: unknown): number => (state as { idx?: number } | null)?.idx ?? 0
const guarding = (leaves: (guard: Guard) => boolean) => [...guards].filter(guard => guard.guards() && leaves(guard))

/** Asks once for all of these; a person who is asked already has not said yes. */
async function mayLeave(left: Guard[]): Promise<boolean> {
  if (left.length === 0) return true
  if (asked.length > 0) return false
  asked = left
  const yes = await confirm({ title: t('discard.title'), body: t('discard.body'), danger: true })
  asked = []
  if (yes) for (const guard of left) guard.release()
  return yes
}

/** Takes the question back once nothing that it is about can be lost any more: its changes were saved meanwhile. */
function withdrawQuestion(): void {
  if (asked.length > 0 && !asked.some(guard => guard.guards())) questions.current()?.answer(false)
}

/** Follows the ways out of a page: one set of listeners, however many guards there are. */
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
    // Before the router hears of it: the address goes back to this view until there is an answer.
    event.stopImmediatePropagation()
    // Entries that only differ in their parameters have no number of their own: there, the view gets a new one.
    const steps = indexOf(entry.state) - indexOf(event.state)
    // Past what nuqs puts over it: told of an entry, nuqs drops a change of the address that is not drawn yet, and the
    // form with it.
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
  /** The parameter of the address that opens it, and the value that it has then; without it, it is open at any parameters. */
  param?: { name: string; value: string | null }
  /** Closes it once its changes are given up, where another address alone does not. */
  onRelease?: () => void
  /** What is typed is kept by `draftOf`. */
  keepsDraft?: boolean
}

/**
 * Asks before a view, a form or a dialog with changes that are not saved is left: by a link, by the browser's back and forward,
 * by the command palette, or with the tab. It is open at the path at which it is drawn. `param` has its own value: the
 * router knows of a new address only after the form is drawn, and somebody has typed.
 * @returns `mark`: it has changes now, for those that know before they are drawn again; `isUnsaved`: whether it has;
 * `release`: its changes are saved, or given up; `mayLeave`: a question for its own way out
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
      // What an address does not close is about what is shown at this one.
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
