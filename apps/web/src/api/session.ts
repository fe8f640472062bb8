import type { CurrentUser } from '@netlet/contract'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { ApiError, call, onUnauthorized } from './client.ts'
import { queryClient } from './query.ts'
import { accounts } from './routes.ts'

/** Who is signed in; null for a visitor. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<CurrentUser | null> => {
    try {
      return await call(accounts.session, {}, { signal })
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
  staleTime: 60_000
})

export function useSession() {
  const { data, isPending, error, refetch } = useQuery(sessionQuery)
  return { user: data ?? null, pending: isPending, error, retry: refetch }
}

const listeners = new Set<() => void>()
/** Calls `listener` whenever somebody else is signed in than before. */
export const onSessionChange = (listener: () => void) => void listeners.add(listener)

/** Takes over the user that the server returned, and forgets what the former one saw. null: nobody is signed in. */
export function setSessionUser(user: CurrentUser | null): void {
  takeOver(user)
  tellTabs()
}

let tellTabs = () => {}

/** What a broadcast channel does; messages reach all tabs but the own. */
export type Channel = Pick<BroadcastChannel, 'addEventListener' | 'postMessage' | 'close'>

/**
 * Has all tabs of a browser follow each other: they share the cookie, so when somebody else signs in in one of them, views
 * the shop as a user or comes back, the others would show what they may not read any more.
 * @returns how to end it
 */
export function shareSession(channel: Channel): () => void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a broadcast channel stays within its origin
  const tell = () => channel.postMessage('changed')
  tellTabs = tell
  channel.addEventListener('message', () => void follow())
  return () => {
    if (tellTabs === tell) tellTabs = () => {}
    channel.close()
  }
}

const identity = (user: CurrentUser | null | undefined) => user && `${user.id} ${user.impersonated_by}`

/** Another tab says that somebody else is signed in: asks the server who it is. */
async function follow(): Promise<void> {
  const before = queryClient.getQueryData(sessionQuery.queryKey)
  try {
    const user = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
    if (identity(before) !== identity(user)) takeOver(user)
  } catch {
    // No answer: the next call of this tab says what the server thinks of it.
  }
}

function takeOver(user: CurrentUser | null): void {
  for (const listener of listeners) listener()
  const session = JSON.stringify(sessionQuery.queryKey)
  queryClient.removeQueries({ predicate: query => JSON.stringify(query.queryKey) !== session && !query.isActive() })
  queryClient.setQueryData(sessionQuery.queryKey, user)
  void queryClient.invalidateQueries({ predicate: query => JSON.stringify(query.queryKey) !== session })
}

/** Asks the server who is signed in again: points, coins and names may have changed. */
export const reloadSession = () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })

// A session that ended meanwhile shows at the next call: the guards then lead to the login page. The server is asked first,
// since a call may have left before a change of the password gave this browser another session cookie.
onUnauthorized(() => {
  if (queryClient.getQueryData(sessionQuery.queryKey)) void queryClient.prefetchQuery({ ...sessionQuery, staleTime: 0 })
})
