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
  for (const listener of listeners) listener()
  const session = JSON.stringify(sessionQuery.queryKey)
  queryClient.removeQueries({ predicate: query => JSON.stringify(query.queryKey) !== session && !query.isActive() })
  queryClient.setQueryData(sessionQuery.queryKey, user)
  void queryClient.invalidateQueries({ predicate: query => JSON.stringify(query.queryKey) !== session })
}

/** Asks the server who is signed in again: points, coins and names may have changed. */
export const reloadSession = () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })

// A session that ended meanwhile shows at the next call: the guards then lead to the login page.
onUnauthorized(() => {
  if (queryClient.getQueryData(sessionQuery.queryKey)) queryClient.setQueryData(sessionQuery.queryKey, null)
})
