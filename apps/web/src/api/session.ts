import type { CurrentUser } from '@netlet/contract'
import { type Permission, mayOperate } from '@netlet/contract/permissions'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { type Endpoint, call, holdCallsDuring, onUnauthorized } from './client.ts'
import { queryClient, refreshAll } from './query.ts'
import { accounts } from './routes.ts'

/** The signed-in user; null for a visitor. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }): Promise<CurrentUser | null> => call(accounts.whoIsSignedIn, {}, { signal }),
  staleTime: 60_000
})

export function useSession() {
  const { data, isPending, error, refetch } = useQuery(sessionQuery)
  return { user: data ?? null, pending: isPending, error, retry: refetch }
}

/** Why this tab lost its session without any action in it. */
export type SessionLoss = 'ended' | 'changed'

type LossListener = (loss: SessionLoss, loggedOut: boolean) => void
const onLoss = new Set<LossListener>()
/** Calls `listener` before the screens of a lost session close. `loggedOut`: the user logged out in another tab. */
export const onSessionLoss = (listener: LossListener) => void onLoss.add(listener)

const listeners = new Set<() => void>()
/** Calls `listener` when the signed-in user changes. @returns removes the listener */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const onLeave = new Set<() => void>()
/** Calls `listener` when the user logs out in any tab, but not when the session expires. */
export const onLogout = (listener: () => void) => void onLeave.add(listener)

/** Stores the user that the server returned and drops the previous user's data. null: a visitor. */
export function setSessionUser(user: CurrentUser | null): void {
  takeOver(user)
  tellTabs('changed')
}

/** Call this after the user has logged out. */
export function leaveSession(): void {
  takeOver(null)
  left()
  tellTabs('left')
}

function left(): void {
  for (const listener of onLeave) listener()
}

type Message = 'changed' | 'left'
let tellTabs = (_message: Message) => {}

/** The part of BroadcastChannel we use. Messages reach every tab except the sender. */
export type Channel = Pick<BroadcastChannel, 'addEventListener' | 'postMessage' | 'close'>

/**
 * Keeps all tabs on the same session. Tabs share the cookie, so after a login or an impersonation in one tab the others
 * would show data that they may no longer read.
 * @returns stops sharing
 */
export function shareSession(channel: Channel): () => void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a broadcast channel stays within its origin
  const tell = (message: Message) => channel.postMessage(message)
  tellTabs = tell
  const hear = async ({ data }: MessageEvent) => {
    if (data !== 'left') return follow()
    loggedOut = true
    await follow()
    loggedOut = false
    // First wait until the forms are closed: an open form saves its draft again.
    left()
  }
  channel.addEventListener('message', event => void hear(event))
  return () => {
    if (tellTabs === tell) tellTabs = () => {}
    channel.close()
  }
}

const identity = (user: CurrentUser | null | undefined) => user && `${user.id} ${user.impersonated_by}`

/** Asks the server who is signed in, after another tab or a refused call reports a change. */
const follow = (): Promise<void> => (following ??= askWhoIsIn().finally(() => (following = undefined)))
let following: Promise<void> | undefined
/** Another tab reported a logout. */
let loggedOut = false

async function askWhoIsIn(): Promise<void> {
  const before = queryClient.getQueryData(sessionQuery.queryKey)
  try {
    const user = await call(accounts.whoIsSignedIn)
    if (identity(before) === identity(user)) return void queryClient.setQueryData(sessionQuery.queryKey, user)
    if (before) for (const listener of onLoss) listener(user ? 'changed' : 'ended', loggedOut)
    takeOver(user)
  } catch {
    // No answer. The next call of this tab shows whether the session still exists.
  }
}

function takeOver(user: CurrentUser | null): void {
  for (const listener of listeners) listener()
  const session = JSON.stringify(sessionQuery.queryKey)
  queryClient.removeQueries({ predicate: query => JSON.stringify(query.queryKey) !== session && !query.isActive() })
  queryClient.setQueryData(sessionQuery.queryKey, user)
  // After a logout the old screens are closing, so do not refetch for them.
  const refetchType = user ? 'active' : 'none'
  void queryClient.invalidateQueries({ predicate: query => JSON.stringify(query.queryKey) !== session, refetchType })
}

/** Refetches the signed-in user: points, coins and names may have changed. */
export const reloadSession = () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })

// An expired session shows at the next call, and the guards then lead to the login page. We ask the server first,
// because the call may have left before a password change replaced this browser's session cookie.
onUnauthorized(() => {
  if (queryClient.getQueryData(sessionQuery.queryKey)) void follow()
})

/** Does the user's role allow this? Without a permission, everyone may. */
export const may = (user: CurrentUser | null, permission: Permission | undefined): boolean =>
  permission === undefined || mayOperate(user?.operator_role ?? null, permission)

/** What the signed-in operator may do, so that the console hides the rest. The server checks every call. */
export function useMay() {
  const { user } = useSession()
  return {
    me: user,
    may: (permission: Permission | undefined) => may(user, permission),
    mayCall: (route: Endpoint) => may(user, route.permission)
  }
}

/** Ends the session, then leaves the page. Cancels the old screen's queries: a 401 would lead to the login page. */
export async function endSession(end: () => Promise<unknown>, leave: () => void | Promise<void>): Promise<void> {
  const work = async () => {
    await end()
    await leave()
    await queryClient.cancelQueries()
    leaveSession()
  }
  await queryClient.cancelQueries()
  try {
    await holdCallsDuring(work())
  } catch (error) {
    void refreshAll()
    throw error
  }
}
