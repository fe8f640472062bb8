/** Reads arguments and directives beyond what the library does. */
import { getDirectiveValues, GraphQLError, type GraphQLResolveInfo } from 'graphql'

/** The key of the field's @idempotent directive; null if it has none. */
export function idempotencyKey({ fieldNodes, schema, variableValues }: GraphQLResolveInfo): string | null {
  const [directive, node] = [schema.getDirective('idempotent'), fieldNodes[0]]
  const key = directive && node && getDirectiveValues(directive, node, variableValues)?.['key']
  return typeof key === 'string' && key.trim() !== '' ? key : null
}

/** Reads the only search that the shop uses. Ignoring an unknown term would hide a mistake in the query. */
export function orderFilter(query: string): number {
  let since = 0
  for (const term of query.split(' ').filter(part => part !== '')) {
    const match = /^updated_at:>='([^']+)'$/.exec(term)
    const instant = Date.parse(match?.[1] ?? '')
    if (Number.isNaN(instant)) throw new GraphQLError(`The stand-in does not know the search term ${term}`)
    since = instant
  }
  return since
}
