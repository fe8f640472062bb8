import { onlineManager, QueryClient, queryOptions, type Query } from '@tanstack/react-query'
import { ApiError, call, type CallArguments, type Endpoint } from './client.ts'

/**
 * A refusal will be the same the second time; a lost connection may not be, unless the browser knows that there is none.
 * Silence is waited for once more at most, so that it is told within a minute.
 */
export function mayTryAgain(count: number, error: Error): boolean {
  if (!onlineManager.isOnline()) return false
  const kind = error instanceof ApiError ? error.kind : undefined
  return kind !== 'refused' && count < (kind === 'timeout' ? 1 : 2)
}

export const queryClient = new QueryClient({
  defaultOptions: {
    // Also tried without a connection, so that what is on the screen says so, and again when there is one.
    queries: {
      retry: mayTryAgain,
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
      refetchOnReconnect: true
    },
    // Made at once or not at all: one that waited for the network would be made long after it was asked for.
    mutations: { retry: false, networkMode: 'always' }
  }
})

/** The key under which a call's answers are kept; without an input, of all of them. */
export const keyOf = (route: Endpoint, input?: object) =>
  input ? [route.method, route.path, input] : [route.method, route.path]

/** A reading call as a query: useQuery(read(catalog.products, { query: { limit: 10 } })). */
export function read<T extends Endpoint>(route: T, ...[input, options]: CallArguments<T>) {
  return queryOptions({
    queryKey: keyOf(route, input ?? {}),
    queryFn: ({ signal }) => call(route, ...([input, { ...options, signal }] as CallArguments<T>))
  })
}

/**
 * Marks every kept answer of these calls as stale, so that what is on the screen is read again. A read that is out goes
 * on, since one that were begun again with each change would never end in a busy shop; it may have been answered before
 * the change, so it is followed by one more.
 */
export const refresh = (...routes: Endpoint[]) => Promise.all(routes.map(route => refreshMatching(keyOf(route))))

/** As `refresh`, of everything that is kept. */
export const refreshAll = () => refreshMatching([])

async function refreshMatching(queryKey: readonly unknown[]): Promise<void> {
  const again = async (query: Query) => {
    // Why it failed is said where it is shown.
    await query.promise?.catch(() => undefined)
    await queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false })
  }
  const out = queryClient.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  await Promise.all([queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false }), ...out.map(again)])
}
