/** Reads arguments and directives beyond what the library does. */
import { getDirectiveValues, GraphQLError, type GraphQLResolveInfo } from 'graphql'

/** The key of the field's @idempotent directive; null if it has none. */
export function idempotencyKey({ fieldNodes, schema, variableValues }: GraphQLResolveInfo): string | null {
  const [directive, node] = [schema.getDirective('idempotent'), fieldNodes[0]]
  const key = directive && node && getDirectiveValues(directive, node, variableValues)?.['key']
  return typeof key === 'string' && key.trim() !== '' ? key : null
}

/**
 * Reads the only search that the shop uses: since an instant. Ignoring an unknown term would hide a mistake in the query.
 */
export function sinceOf(query: string, field: 'updated_at' | 'initiated_at'): number {
  let since = 0
  for (const term of query.split(' ').filter(part => part !== '')) {
    const [, name, time = ''] = /^(\w+):>='([^']+)'$/.exec(term) ?? []
    const instant = name === field ? Date.parse(time) : Number.NaN
    if (Number.isNaN(instant)) throw new GraphQLError(`The stand-in does not know the search term ${term}`)
    since = instant
  }
  return since
}
