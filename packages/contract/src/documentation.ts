import { z } from 'zod'
import { API_KEY_SCOPES } from './limits.ts'
import { route } from './route.ts'

const Field = z.object({
  /** A path such as `rows[].id`. */
  name: z.string(),
  /** A notation without words: `integer 1..10000 = 10`, `"asc" | "desc"`, `string | null`. */
  type: z.string(),
  required: z.boolean()
})

/** A call that customers' API keys may make. */
export const ReferenceCall = z.object({
  /** The operation's id in OpenAPI: `orders_list`. */
  id: z.string(),
  domain: z.string(),
  method: z.string(),
  path: z.string(),
  summary: z.string(),
  scope: z.enum(API_KEY_SCOPES),
  /** Its reply contains proxy passwords. */
  reveals: z.boolean(),
  path_fields: z.array(Field),
  query: z.array(Field),
  body: z.array(Field),
  /** The fields of `data` in a success. */
  reply: z.array(Field),
  example: z.string(),
  samples: z.object({ curl: z.string(), python: z.string(), node: z.string() })
})
export type ReferenceCall = z.infer<typeof ReferenceCall>

export const Reference = z.object({
  /** The shop's URL, without a trailing slash. */
  url: z.string(),
  /** Calls per minute and key. */
  calls_a_minute: z.number(),
  most_rows: z.number(),
  calls: z.array(ReferenceCall)
})
export type Reference = z.infer<typeof Reference>

export const documentation = {
  page: route('GET', '/api/docs', {
    summary: 'This documentation as a page',
    access: 'admin',
    permission: 'console.use',
    reply: z.string(),
    raw: 'text/html'
  }),
  openapi: route('GET', '/api/docs/openapi.json', {
    summary: 'This documentation as OpenAPI 3.1',
    access: 'admin',
    permission: 'console.use',
    reply: z.record(z.string(), z.unknown()),
    raw: 'application/json'
  }),
  reference: route('GET', '/api/docs/reference/', {
    summary: "Calls for customers' API keys, for the API reference page",
    access: 'public',
    reply: Reference
  }),
  customerOpenapi: route('GET', '/api/docs/customer.json', {
    summary: "Calls for customers' API keys, as OpenAPI 3.1",
    access: 'public',
    reply: z.record(z.string(), z.unknown()),
    raw: 'application/json'
  })
}
