/** JSON Schema of the contract: what the documents say, and what generated requests are made from. */
import * as contract from '@netlet/contract'
import { z } from 'zod'

export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minItems?: number
  maxItems?: number
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  additionalProperties?: boolean | JsonSchema
  required?: string[]
  anyOf?: JsonSchema[]
  [more: string]: unknown
}

export type Components = Record<string, JsonSchema>

/** Small shapes that need a word of explanation. */
const EXPLAINED: Record<string, string> = {
  Id: 'A positive whole number, also taken as text',
  RuleId: 'The id of an access rule',
  IdList: 'Ids, separated by commas: 1,2,3',
  Money: 'An exact amount of dollars as text with 2 decimals',
  Time: 'ISO 8601, UTC'
}
/** They are parts of a query or a path, not shapes of their own. */
const INLINE = new Set(['Paging', 'IdParams'])

const names = z.registry<{ id: string; description?: string }>()
for (const [id, schema] of Object.entries(contract)) {
  if (id in EXPLAINED && schema instanceof z.ZodType) names.add(schema, { id, description: EXPLAINED[id] ?? '' })
  else if (schema instanceof z.ZodObject && !INLINE.has(id)) names.add(schema, { id })
}

/**
 * A schema of the contract as JSON Schema; the named shapes in it are references, whose targets are put into
 * `components`.
 * @param side what a caller sends ('input') or gets ('output')
 * @throws where one name means two things: the contract gave a shape to both sides that is not the same on both
 */
export function jsonSchema(schema: z.ZodType, side: 'input' | 'output', components: Components): JsonSchema {
  const text = JSON.stringify(
    z.toJSONSchema(schema, { io: side, unrepresentable: 'any', metadata: names, target: 'draft-2020-12' })
  )
  const {
    $schema: _,
    $defs,
    ...root
  } = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema & {
    $defs?: Components
  }
  for (const [name, found] of Object.entries($defs ?? {})) keep(components, name, found)
  return root
}

function keep(components: Components, name: string, found: JsonSchema): void {
  const { id: _, ...schema } = found
  const before = components[name]
  if (before && JSON.stringify(before) !== JSON.stringify(schema)) throw new Error(`${name} has two meanings`)
  components[name] = schema
}

/** Follows a reference. */
export function resolve(schema: JsonSchema, components: Components): JsonSchema {
  if (!schema.$ref) return schema
  const found = components[schema.$ref.replace('#/components/schemas/', '')]
  if (!found) throw new Error(`${schema.$ref} leads nowhere`)
  return found
}
