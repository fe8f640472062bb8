import { QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiError, call, type CallArguments, type Endpoint } from './client.ts'

/** A refusal will be the same the second time; a lost connection may not be. */
const retry = (count: number, error: Error) => count < 2 && !(error instanceof ApiError && error.kind === 'refused')

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry, staleTime: 15_000, refetchOnWindowFocus: true }, // Made at once or not at all: one that waited for the network would be made long after it was asked for.
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

/** Marks every kept answer of these calls as stale, so that what is on the screen is read again. */
export const refresh = (...routes: Endpoint[]) =>
  Promise.all(routes.map(route => queryClient.invalidateQueries({ queryKey: keyOf(route) })))
