import { resolve, type Components, type JsonSchema } from './schemas.ts'

export type Field = {
  /** `option_selected.acl_selected[]` */
  name: string
  type: string
  required: boolean
}

/** The header that a call takes beside its fields. */
export const IDEMPOTENCY_KEY = { name: 'Idempotency-Key', type: 'text, 1 to 200 characters' }

const SHORT: Record<string, string> = {
  Id: 'id',
  RuleId: 'id',
  IdList: 'comma-joined ids',
  Money: 'money',
  Time: 'time'
}

/**
 * The fields of an object as flat lines; a named shape inside is one line when `deep` is not asked for.
 * @param worded says what type a field is of
 */
export function fieldsOf(
  schema: JsonSchema | undefined,
  components: Components,
  deep: boolean,
  worded: (schema: JsonSchema) => string = typeOf
): Field[] {
  if (!schema) return []
  return linesOf('', resolve(withoutNothing(schema), components), { components, deep, worded })
}

type Style = { components: Components; deep: boolean; worded: (schema: JsonSchema) => string }

function linesOf(prefix: string, schema: JsonSchema, style: Style): Field[] {
  const { components, deep, worded } = style
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = withoutNothing(property)
    const list = inner.type === 'array' && inner.items ? withoutNothing(inner.items) : undefined
    const path = `${prefix}${name}${list ? '[]' : ''}`
    const shape = list ?? inner
    const line = { name: `${prefix}${name}`, type: worded(property), required: required.has(name) }
    const target = resolve(shape, components)
    if (!target.properties || (shape.$ref && !deep)) return [line]
    return [line, ...linesOf(`${path}.`, target, style)]
  })
}

/** What is left of 'this or nothing'. */
function withoutNothing(schema: JsonSchema): JsonSchema {
  const some = schema.anyOf?.filter(one => one.type !== 'null')
  return some?.length === 1 && some[0] ? some[0] : schema
}

/** A schema's type in a few words. */
function typeOf(schema: JsonSchema): string {
  if (schema.$ref) {
    const name = schema.$ref.replace('#/components/schemas/', '')
    return SHORT[name] ?? name
  }
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' or ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf) return [...new Set(schema.anyOf.map(one => typeOf(one)))].join(' or ')
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return 'anything'
  const words = types.map(type => {
    if (type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'anything'}`
    if (type === 'integer') return 'whole number'
    if (type === 'boolean') return 'true or false'
    if (type === 'string') return schema.format === 'uuid' ? 'UUID' : 'text'
    return type
  })
  const limits = [bounds(schema), schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`]
  return [words.join(' or '), ...limits.filter(Boolean)].join(', ')
}

/** Bounds that say something: those of whole numbers in general are left out. */
function bounds(schema: JsonSchema): string {
  if (schema.format === 'uuid') return ''
  const safe = (value: number | undefined) =>
    value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value
  const least = safe(schema.minimum) ?? safe(schema.exclusiveMinimum)
  const most = safe(schema.maximum)
  if (least !== undefined || most !== undefined) return range(least, most, '')
  if (schema.minLength !== undefined || schema.maxLength !== undefined)
    return range(schema.minLength, schema.maxLength, ' characters')
  if (schema.minItems !== undefined || schema.maxItems !== undefined)
    return range(schema.minItems, schema.maxItems, ' entries')
  return ''
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (most === undefined) return `at least ${least}${unit}`
  return least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`
}
