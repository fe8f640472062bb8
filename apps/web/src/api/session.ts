import type { CurrentUser } from '@netlet/contract'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { call, onUnauthorized } from './client.ts'
import { queryClient } from './query.ts'
import { accounts } from './routes.ts'

/** Who is signed in; null for a visitor. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }): Promise<CurrentUser | null> => call(accounts.whoIsSignedIn, {}, { signal }),
  staleTime: 60_000
})

export function useSession() {
  const { data, isPending, error, refetch } = useQuery(sessionQuery)
  return { user: data ?? null, pending: isPending, error, retry: refetch }
}

/** How this tab lost its session although nobody did anything in it. */
export type SessionLoss = 'ended' | 'changed'

type LossListener = (loss: SessionLoss, loggedOut: boolean) => void
const onLoss = new Set<LossListener>()
/** Calls `listener` before the screens of a session that is gone are left. `loggedOut`: by its user, in another tab. */
export const onSessionLoss = (listener: LossListener) => void onLoss.add(listener)

const listeners = new Set<() => void>()
/** Calls `listener` whenever somebody else is signed in than before. @returns how to end it */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const onLeave = new Set<() => void>()
/** Calls `listener` where the session was ended by its user, in whatever tab of the browser: not where it only ended. */
export const onLogout = (listener: () => void) => void onLeave.add(listener)

/** Takes over the user that the server returned, and forgets what the former one saw. null: nobody is signed in. */
export function setSessionUser(user: CurrentUser | null): void {
  takeOver(user)
  tellTabs('changed')
}

/** The session was ended by its user. */
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

/** What a broadcast channel does; messages reach all tabs but the own. */
export type Channel = Pick<BroadcastChannel, 'addEventListener' | 'postMessage' | 'close'>

/**
 * Has all tabs of a browser follow each other: they share the cookie, so when somebody else signs in in one of them, views
 * the shop as a user or comes back, the others would show what they may not read any more.
 * @returns how to end it
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
    // A form keeps what is typed until it is gone.
    left()
  }
  channel.addEventListener('message', event => void hear(event))
  return () => {
    if (tellTabs === tell) tellTabs = () => {}
    channel.close()
  }
}

const identity = (user: CurrentUser | null | undefined) => user && `${user.id} ${user.impersonated_by}`

/** Another tab, or a call that was refused, says that somebody else is signed in, or nobody: asks the server who it is. */
const follow = (): Promise<void> => (following ??= askWhoIsIn().finally(() => (following = undefined)))
let following: Promise<void> | undefined
/** Another tab has said so. */
let loggedOut = false

async function askWhoIsIn(): Promise<void> {
  const before = queryClient.getQueryData(sessionQuery.queryKey)
  try {
    const user = await call(accounts.whoIsSignedIn)
    if (identity(before) === identity(user)) return void queryClient.setQueryData(sessionQuery.queryKey, user)
    if (before) for (const listener of onLoss) listener(user ? 'changed' : 'ended', loggedOut)
    takeOver(user)
  } catch {
    // No answer: the next call of this tab says what the server thinks of it.
  }
}

function takeOver(user: CurrentUser | null): void {
  for (const listener of listeners) listener()
  const session = JSON.stringify(sessionQuery.queryKey)
  queryClient.removeQueries({ predicate: query => JSON.stringify(query.queryKey) !== session && !query.isActive() })
  queryClient.setQueryData(sessionQuery.queryKey, user)
  // The screens of somebody who is gone are on their way out: they ask for nothing more.
  const refetchType = user ? 'active' : 'none'
  void queryClient.invalidateQueries({ predicate: query => JSON.stringify(query.queryKey) !== session, refetchType })
}

/** Asks the server who is signed in again: points, coins and names may have changed. */
export const reloadSession = () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })

// A session that ended meanwhile shows at the next call: the guards then lead to the login page. The server is asked first,
// since a call may have left before a change of the password gave this browser another session cookie.
onUnauthorized(() => {
  if (queryClient.getQueryData(sessionQuery.queryKey)) void follow()
})
