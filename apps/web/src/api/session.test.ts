import { waitFor } from '@testing-library/react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { answer, answerLost, requestsOf } from '../testing/answers.ts'
import { admin, customer, pageOf } from '../testing/shapes.ts'
import { keyOf, queryClient } from './query.ts'
import { accounts } from './routes.ts'
import {
  leaveSession,
  onLogout,
  onSessionChange,
  onSessionLoss,
  sessionQuery,
  setSessionUser,
  shareSession
} from './session.ts'

/** This tab's end of the channel, and what another tab does at its end. */
function channel() {
  const posted: unknown[] = []
  const listeners: ((event: MessageEvent) => void)[] = []
  const end = shareSession({
    postMessage: message => void posted.push(message),
    addEventListener: (_: string, listener: unknown) => void listeners.push(listener as (event: MessageEvent) => void),
    close: () => undefined
  })
  return {
    posted,
    end,
    hear: (data?: unknown) => listeners.forEach(listener => listener(new MessageEvent('message', { data })))
  }
}
let tabs: ReturnType<typeof channel>
afterEach(() => tabs.end())

const viewed = { ...customer, impersonated_by: 'admin' }
const shown = () => queryClient.getQueryData(sessionQuery.queryKey)
const list = keyOf(accounts.users, { query: { limit: 10 } })

describe('the session in several tabs', () => {
  it('tells the other tabs that the signed-in user changed', () => {
    tabs = channel()
    setSessionUser(customer)
    expect(tabs.posted).toHaveLength(1)
  })

  it('follows another tab that views the shop as a user, and forgets what the administrator saw', async () => {
    tabs = channel()
    queryClient.setQueryData(sessionQuery.queryKey, admin)
    queryClient.setQueryData(list, pageOf())
    const listener = vi.fn()
    onSessionChange(listener)
    answer(accounts.whoIsSignedIn, viewed)
    tabs.hear()
    await waitFor(() => expect(shown()).toMatchObject({ id: 2, impersonated_by: 'admin' }))
    await waitFor(() => expect(listener).toHaveBeenCalledOnce())
    expect(queryClient.getQueryData(list)).toBeUndefined()
    // A tab that receives the message does not send it again, which would loop forever.
    expect(tabs.posted).toEqual([])
  })

  it('follows back to the administrator, and to a visitor', async () => {
    tabs = channel()
    queryClient.setQueryData(sessionQuery.queryKey, viewed)
    answer(accounts.whoIsSignedIn, admin)
    tabs.hear()
    await waitFor(() => expect(shown()).toMatchObject({ id: 1, impersonated_by: null }))
    answer(accounts.whoIsSignedIn, null)
    tabs.hear()
    await waitFor(() => expect(shown()).toBeNull())
  })

  it('says once that the session is gone, while what was open is still there', async () => {
    tabs = channel()
    queryClient.setQueryData(sessionQuery.queryKey, admin)
    const losses: unknown[] = []
    onSessionLoss((loss, loggedOut) => losses.push([loss, loggedOut, shown()]))
    answer(accounts.whoIsSignedIn, null)
    tabs.hear()
    tabs.hear()
    await waitFor(() => expect(shown()).toBeNull())
    expect(losses).toEqual([['ended', false, admin]])
    expect(requestsOf(accounts.whoIsSignedIn)).toHaveLength(1)
  })

  it('says nothing of a log-out in this tab', () => {
    tabs = channel()
    queryClient.setQueryData(sessionQuery.queryKey, admin)
    const listener = vi.fn()
    onSessionLoss(listener)
    setSessionUser(null)
    expect(listener).not.toHaveBeenCalled()
  })

  it('knows a log-out, here and in other tabs, from a session that only ended', async () => {
    tabs = channel()
    const listener = vi.fn()
    onLogout(listener)
    queryClient.setQueryData(sessionQuery.queryKey, customer)
    answer(accounts.whoIsSignedIn, null)
    tabs.hear('changed')
    await waitFor(() => expect(shown()).toBeNull())
    setSessionUser(null)
    expect(listener).not.toHaveBeenCalled()
    leaveSession()
    expect(listener).toHaveBeenCalledOnce()
    expect(tabs.posted).toEqual(['changed', 'left'])
    const lost = vi.fn()
    onSessionLoss(lost)
    queryClient.setQueryData(sessionQuery.queryKey, customer)
    tabs.hear('left')
    // A login that follows at once does not hide the logout.
    tabs.hear('changed')
    await waitFor(() => expect(listener).toHaveBeenCalledTimes(2))
    expect(lost).toHaveBeenCalledExactlyOnceWith('ended', true)
  })

  it('keeps what it has where it is the same user, or the server does not answer', async () => {
    tabs = channel()
    queryClient.setQueryData(sessionQuery.queryKey, admin)
    queryClient.setQueryData(list, pageOf())
    answer(accounts.whoIsSignedIn, admin)
    tabs.hear()
    await waitFor(() => expect(requestsOf(accounts.whoIsSignedIn)).toHaveLength(1))
    expect(queryClient.getQueryData(list)).toBeDefined()
    answerLost(accounts.whoIsSignedIn)
    tabs.hear()
    await waitFor(() => expect(requestsOf(accounts.whoIsSignedIn).length).toBeGreaterThan(1))
    expect(shown()).toMatchObject({ id: 1 })
  })
})
