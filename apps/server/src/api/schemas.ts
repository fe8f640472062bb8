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
  for (const [name, found] of Object.entries($defs ?? {})) addComponent(components, name, found)
  return root
}

function addComponent(components: Components, name: string, found: JsonSchema): void {
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

const uuid = '3f2b8a52-6f0e-4d5a-9c31-6b1f0c9a7e21'
const instant = '2026-03-01T12:00:00.000Z'

/** An example for a field of this name, where its type alone would say too little. */
const BY_NAME: Record<string, unknown> = {
  acl_selected: [3],
  after_id: 0,
  after_line: 0,
  acl_value: 'example.com\nexample.org',
  address: '192.0.2.10',
  agent_certificate: null,
  amount: '20.00',
  at: '2026-03-01T12:00:00.000Z',
  captcha: 42,
  captcha_image_base: 'data:image/png;base64,…',
  cart_step: 8,
  channel_id: '112233445566778899',
  cidr: '192.0.2.0/24',
  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  http_status: '407',
  host_key: 'SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8',
  fingerprint: 'SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8',
  cidrs: ['192.0.2.0/24'],
  code: 'SPRING10',
  delivery_count_exact: 0,
  delivery_count_min: 100,
  description: 'For a test',
  discord_id: '998877665544332211',
  discount: '10.00',
  email: 'anna@example.com',
  email_code: '123456',
  email_code_expire: 600,
  email_dkim_selector: 's1',
  email_from: 'Shop <shop@example.com>',
  earlier: '1772366400000000.3.42',
  ended_at: '2026-03-01T14:30:00.000Z',
  error: 'access_denied',
  event_id: 'message-1',
  from: '2026-03-01T00:00:00Z',
  expired_at: 1_893_456_000_000,
  ip: '192.0.2.10',
  json_input: { user: 'anna1' },
  keep_audit_days: 1825,
  keep_bulk_runs_days: 30,
  keep_event_payloads_days: 90,
  keep_events_days: 730,
  keep_logs_days: 30,
  keep_mails_days: 365,
  keep_mail_contents_days: 90,
  keep_order_history_days: 730,
  keep_retired_proxies_days: 90,
  keep_unpaid_orders_days: 30,
  limit: 10,
  // Of a second factor.
  method: 'recovery',
  second_factor: { method: 'totp', code: '123456' },
  mark: '9f86d081884c7d659a2feaa0c55ad015',
  mount: '5.00',
  name: 'Example',
  new_password: 'Example#2026',
  offset: 0,
  option1: 'New York',
  option2: '',
  option3: '',
  order_id: 'NL-ABCDEFGHJKMNPQRS',
  order_ids: '1,2',
  password: 'Example#2026',
  phone: '+1 555 0100',
  day: '2026-03-01',
  ends_on: '2026-03-31',
  placed_on: '2026-03-01',
  placed_in: '2026-03',
  paid_on: '2026-03-01',
  paid_in: '2026-03',
  batch: '9f86d081884c7d659a2feaa0c55ad015',
  count: 20,
  prefix: '192.0.2.0/29',
  price: '0.50',
  quantity: 8,
  repassword: 'Example#2026',
  search: 'anna',
  sendgrid_webhook_key: '',
  security_contact: 'security@example.com',
  picture: '',
  shop_accent: '#0b6860',
  shop_currency: 'USD',
  shop_name: 'My shop',
  shop_time_zone: 'Europe/Berlin',
  shopify_product_id: '720000000001',
  shopify_shop_url: 'https://shop.example.com',
  shopify_variant_id: '72000000000101',
  started_at: '2026-03-01T12:00:00.000Z',
  support_discord: 'https://discord.example.com/invite',
  support_twitter: 'https://social.example.com/shop',
  discord_redirect_uri: 'https://shop.example.com/api/auth/discord/redirect',
  discord_bind_redirect_uri: 'https://shop.example.com/api/auth/discord/bind_redirect',
  tags: '1,2',
  in_month: '2026-03',
  today: '2026-03-15',
  until: '2026-03-31T00:00:00Z',
  uri: '/api/view-all-users',
  url: 'https://hooks.example.com/orders',
  username: 'anna1',
  variant_price: '2.00'
}

const BY_COMPONENT: Record<string, unknown> = {
  Id: 1,
  RuleId: 1,
  IdList: '1,2',
  Money: '20.00',
  Time: '2026-03-01T12:00:00.000Z'
}

/** A value that the schema takes, as one would send or get it. */
export function exampleOf(schema: JsonSchema, components: Components, name = ''): unknown {
  const reference = schema.$ref?.replace('#/components/schemas/', '')
  if (reference && reference in BY_COMPONENT) return BY_COMPONENT[reference]
  const target = resolve(schema, components)
  const types = [target.type ?? []].flat()
  if (name in BY_NAME && matchesType(BY_NAME[name], target, components)) return BY_NAME[name]
  if (target.default !== undefined) return target.default
  if (target.enum) return target.enum[0]
  if ('const' in target) return target.const
  if (target.anyOf) {
    const [some] = target.anyOf.filter(one => one.type !== 'null')
    return some ? exampleOf(some, components, name) : null
  }
  if (types.includes('object')) {
    return Object.fromEntries(
      Object.entries(target.properties ?? {}).map(([key, property]) => [key, exampleOf(property, components, key)])
    )
  }
  if (types.includes('array')) return target.items ? [exampleOf(target.items, components, name)] : []
  if (types.includes('boolean')) return true
  if (types.includes('integer') || types.includes('number'))
    return target.minimum !== undefined && target.minimum > 0 ? target.minimum : 1
  if (target.format === 'date-time') return instant
  if (types.includes('string')) return target.format === 'uuid' ? uuid : 'example'
  return null
}

/** Is it of the schema's type at all? One name stands for different things in different places. */
function matchesType(value: unknown, schema: JsonSchema, components: Components): boolean {
  const target = resolve(schema, components)
  if (target.anyOf) return target.anyOf.some(one => matchesType(value, one, components))
  if (target.enum) return target.enum.includes(value)
  if ('const' in target) return target.const === value
  const types = [target.type ?? []].flat()
  if (value === null) return types.includes('null')
  if (Array.isArray(value)) {
    const { items } = target
    return types.includes('array') && (!items || value.every(entry => matchesType(entry, items, components)))
  }
  if (typeof value === 'number') return types.includes('number') || types.includes('integer')
  return types.includes(typeof value)
}

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
  return linesOf('', resolve(withoutNull(schema), components), { components, deep, worded })
}

type Style = { components: Components; deep: boolean; worded: (schema: JsonSchema) => string }

function linesOf(prefix: string, schema: JsonSchema, style: Style): Field[] {
  const { components, deep, worded } = style
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = withoutNull(property)
    const list = inner.type === 'array' && inner.items ? withoutNull(inner.items) : undefined
    const path = `${prefix}${name}${list ? '[]' : ''}`
    const shape = list ?? inner
    const line = { name: `${prefix}${name}`, type: worded(property), required: required.has(name) }
    const target = resolve(shape, components)
    if (!target.properties || (shape.$ref && !deep)) return [line]
    return [line, ...linesOf(`${path}.`, target, style)]
  })
}

/** What is left of 'this or nothing'. */
function withoutNull(schema: JsonSchema): JsonSchema {
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
