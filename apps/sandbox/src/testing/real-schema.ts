import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { buildClientSchema, type GraphQLSchema, type IntrospectionQuery } from 'graphql'

let schema: GraphQLSchema | undefined

/** The platform's real Admin schema, version 2026-07. */
export function realSchema(): GraphQLSchema {
  if (schema) return schema
  const file = new URL('../shopify/testdata/admin_2026-07.json.gz', import.meta.url)
  const { data } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as { data: IntrospectionQuery }
  // The library is stricter than the platform about a deprecated field of an interface, which nothing here uses.
  schema = buildClientSchema(data, { assumeValid: true })
  return schema
}
