import type { JsonSchema } from './schemas.ts'

/** Named shapes whose name says what stands in the JSON no more than their type does. */
const PLAIN: Record<string, string> = {
  Id: 'integer',
  RuleId: 'integer',
  IdList: 'string "1,2,3"',
  Money: 'string "20.00"',
  Time: 'string ISO 8601'
}

/** A schema's type in a notation that needs no words of a language: `integer 1..50 = 10`, `"a" | "b"`, `Order[]`. */
export function notationOf(schema: JsonSchema): string {
  if (schema.$ref) {
    const name = schema.$ref.replace('#/components/schemas/', '')
    return PLAIN[name] ?? name
  }
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf) {
    const numbers = schema.anyOf.filter(one => one.type === 'integer')
    // A query is text: that it holds a number is what there is to say.
    const told = numbers.length > 0 ? schema.anyOf.filter(one => !one.pattern?.includes(String.raw`\d`)) : schema.anyOf
    return [...new Set(told.map(notationOf))].join(' | ')
  }
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return 'any'
  const names = types.map(type => {
    if (type !== 'array') return schema.format === 'uuid' ? 'uuid' : type
    const items = schema.items ? notationOf(schema.items) : 'any'
    return items.includes(' | ') ? `(${items})[]` : `${items}[]`
  })
  return [names.join(' | '), ...boundsOf(schema), ...standardOf(schema)].join(' ')
}

const standardOf = (schema: JsonSchema): string[] =>
  schema.default === undefined ? [] : [`= ${JSON.stringify(schema.default)}`]

function boundsOf(schema: JsonSchema): string[] {
  if (schema.format === 'uuid') return []
  const told = (value: number | undefined) =>
    value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value
  const least = told(schema.minimum ?? schema.exclusiveMinimum) ?? schema.minLength ?? schema.minItems
  const most = told(schema.maximum) ?? schema.maxLength ?? schema.maxItems
  if (least === undefined && most === undefined) return []
  return [most === undefined ? `≥ ${least}` : least === undefined ? `≤ ${most}` : `${least}..${most}`]
}
