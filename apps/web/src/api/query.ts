import { onlineManager, QueryClient, queryOptions, type Query } from '@tanstack/react-query'
import { ApiError, call, type CallArguments, type Endpoint } from './client.ts'

/** Retries a lost connection while online, never a refusal. A timeout is retried once, to fail within a minute. */
export function mayTryAgain(count: number, error: Error): boolean {
  if (!onlineManager.isOnline()) return false
  const kind = error instanceof ApiError ? error.kind : undefined
  return kind !== 'refused' && count < (kind === 'timeout' ? 1 : 2)
}

export const queryClient = new QueryClient({
  defaultOptions: {
    // Try offline too, so that the screen shows the failure. Refetch on reconnect.
    queries: {
      retry: mayTryAgain,
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
      refetchOnReconnect: true
    },
    // Never queue a mutation until the network returns: the user may no longer want it.
    mutations: { retry: false, networkMode: 'always' }
  }
})

/** The query key of a call with this input; without an input, of all its answers. */
export const keyOf = (route: Endpoint, input?: object) =>
  input ? [route.method, route.path, input] : [route.method, route.path]

/** A query for a reading call: useQuery(read(catalog.products, { query: { limit: 10 } })). */
export function read<T extends Endpoint>(route: T, ...[input, options]: CallArguments<T>) {
  return queryOptions({
    queryKey: keyOf(route, input ?? {}),
    queryFn: ({ signal }) => call(route, ...([input, { ...options, signal }] as CallArguments<T>))
  })
}

/**
 * Invalidates every cached answer of these calls. We do not cancel a read in flight, because in a busy shop it would
 * never finish. It may have started before the change, so another read follows it.
 */
export const refresh = (...routes: Endpoint[]) => Promise.all(routes.map(route => refreshMatching(keyOf(route))))

/** Like `refresh`, for every cached answer. */
export const refreshAll = () => refreshMatching([])

async function refreshMatching(queryKey: readonly unknown[]): Promise<void> {
  const again = async (query: Query) => {
    // The screen that shows the query reports its failure.
    await query.promise?.catch(() => undefined)
    await queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false })
  }
  const out = queryClient.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
  await Promise.all([queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false }), ...out.map(again)])
}
