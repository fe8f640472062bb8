/** Tags that are asked for at once. */
const MOST = 20
/** The largest id that the server takes. */
const LARGEST = Number.MAX_SAFE_INTEGER

/** The tags that an address asks for (`?tags=1,2`), each once; what is no id is left out. */
export function tagsIn(query: URLSearchParams): number[] {
  const ids = (query.get('tags') ?? '').split(',').map(part => (/^[1-9]\d{0,15}$/.test(part) ? Number(part) : 0))
  return [...new Set(ids.filter(id => id > 0 && id <= LARGEST))].slice(0, MOST)
}

/** The address with these tags; whatever else it asks for stays. */
export function withTags(query: URLSearchParams, ids: readonly number[]): URLSearchParams {
  const next = new URLSearchParams(query)
  if (ids.length > 0) next.set('tags', ids.join(','))
  else next.delete('tags')
  return next
}
