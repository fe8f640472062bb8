import { MAX_LIMIT, type Method, type Reference, type ReferenceCall, type Scope } from '@netlet/contract'
import { API_KEY_CALLS_A_MINUTE } from '@netlet/contract/limits'
import { type ApiCall, DOMAIN_TITLES, describeCalls } from './calls.ts'
import { type Components, type JsonSchema, exampleOf, fieldsOf, resolve } from './schemas.ts'
import { operationId, operationOf, refusal, refusedWith } from './openapi.ts'

/** Named shapes whose name says what stands in the JSON no more than their type does. */
const PLAIN: Record<string, string> = {
  Id: 'integer',
  RuleId: 'integer',
  IdList: 'string "1,2,3"',
  Money: 'string "20.00"',
  Time: 'string ISO 8601'
}

/** A schema's type in a notation that needs no words of a language: `integer 1..50 = 10`, `"a" | "b"`, `Order[]`. */
function typeNotation(schema: JsonSchema): string {
  if (schema.$ref) {
    const name = schema.$ref.replace('#/components/schemas/', '')
    return PLAIN[name] ?? name
  }
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf) {
    const numbers = schema.anyOf.filter(one => one.type === 'integer')
    // A query is text: that it holds a number is what there is to say.
    const documented =
      numbers.length > 0 ? schema.anyOf.filter(one => !one.pattern?.includes(String.raw`\d`)) : schema.anyOf
    return [...new Set(documented.map(typeNotation))].join(' | ')
  }
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return 'any'
  const names = types.map(type => {
    if (type !== 'array') return schema.format === 'uuid' ? 'uuid' : type
    const items = schema.items ? typeNotation(schema.items) : 'any'
    return items.includes(' | ') ? `(${items})[]` : `${items}[]`
  })
  return [names.join(' | '), ...boundsOf(schema), ...standardOf(schema)].join(' ')
}

const standardOf = (schema: JsonSchema): string[] =>
  schema.default === undefined ? [] : [`= ${JSON.stringify(schema.default)}`]

function boundsOf(schema: JsonSchema): string[] {
  if (schema.format === 'uuid') return []
  const documented = (value: number | undefined) =>
    value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value
  const least = documented(schema.minimum ?? schema.exclusiveMinimum) ?? schema.minLength ?? schema.minItems
  const most = documented(schema.maximum) ?? schema.maxLength ?? schema.maxItems
  if (least === undefined && most === undefined) return []
  return [most === undefined ? `≥ ${least}` : least === undefined ? `≤ ${most}` : `${least}..${most}`]
}

/** Summaries that tell of others than customers. */
const SAID: Record<string, string> = { 'orders.list': 'Your orders' }
/** Parts of the query that are of use only to those who see the orders of others. */
const OF_OTHERS = new Set([
  'username',
  'user_id',
  'problem',
  'ends_on',
  'live',
  'placed_on',
  'placed_in',
  'paid_on',
  'paid_in',
  'delivered_in'
])

type KeyCall = ApiCall & { scope: Scope }
type Json = Record<string, unknown>

/** What customers' keys may call, and the shapes that those calls speak of: nothing of anybody else's. */
function keyCalls(): { calls: KeyCall[]; components: Components } {
  const { calls, components } = describeCalls()
  const own = calls
    .filter((call): call is KeyCall => call.scope !== undefined && call.access !== 'admin')
    .map(call => ({ ...call, summary: SAID[call.id] ?? call.summary, query: ownQueryFields(call.query) }))
  const used: Components = {}
  const take = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part ?? null).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const shape = components[name]
      if (!shape || used[name]) continue
      used[name] = shape
      take(shape)
    }
  }
  for (const { params, query, body, reply } of own) take([params, query, body, reply])
  return { calls: own, components: used }
}

function ownQueryFields(query: JsonSchema | undefined): JsonSchema | undefined {
  if (!query?.properties) return query
  const own = Object.entries(query.properties).filter(([name]) => !OF_OTHERS.has(name))
  return { ...query, properties: Object.fromEntries(own) }
}

/** What the page about these calls shows. */
export function customerReference(serverUrl: string): Reference {
  const { calls, components } = keyCalls()
  const url = serverUrl.replace(/\/$/, '')
  return {
    url,
    calls_a_minute: API_KEY_CALLS_A_MINUTE,
    most_rows: MAX_LIMIT,
    calls: calls.map(call => referenceCall(call, components, url))
  }
}

function referenceCall(call: KeyCall, components: Components, url: string): ReferenceCall {
  const fields = (schema: JsonSchema | undefined) => fieldsOf(schema, components, true, typeNotation)
  const body = call.body && !call.bodyOptional ? exampleOf(call.body, components) : undefined
  const path = call.path.replaceAll(/:\w+/g, '1') + queryExample(call.query, components)
  return {
    id: operationId(call),
    domain: call.domain,
    method: call.method,
    path: call.path.replaceAll(/:(\w+)/g, '{$1}'),
    summary: call.summary,
    scope: call.scope,
    reveals: call.reveals,
    path_fields: fields(call.params),
    query: fields(call.query),
    body: fields(call.body),
    reply: replyFields(call.reply, components),
    example: JSON.stringify({ code: 2000, data: exampleOf(call.reply, components), msg: 'success' }, null, 2),
    samples: samplesOf({ method: call.method, url: url + path, body })
  }
}

/** Of a list the fields of its rows, too. */
function replyFields(reply: JsonSchema, components: Components): ReferenceCall['reply'] {
  const target = resolve(reply, components)
  if (target.type !== 'array') return fieldsOf(reply, components, true, typeNotation)
  const rows = fieldsOf(target.items, components, true, typeNotation)
  return rows.map(field => ({ ...field, name: `[].${field.name}` }))
}

function queryExample(schema: JsonSchema | undefined, components: Components): string {
  if (!schema) return ''
  const { properties = {}, required = [] } = resolve(schema, components)
  const shown = Object.entries(properties).filter(([name]) => required.includes(name) || name === 'limit')
  const query = new URLSearchParams()
  for (const [name, part] of shown) query.set(name, String(exampleOf(part, components, name)))
  return query.size > 0 ? `?${query.toString()}` : ''
}

const SCOPES: Record<Scope, string> = {
  read: 'Reads orders, proxies, traffic and webhooks',
  renew: 'Gets the checkout links for renewals',
  webhooks: 'Adds, changes and tests webhook endpoints'
}

/** The same calls as an OpenAPI 3.1 document. */
export function customerDocument(serverUrl: string): Json {
  const { calls, components } = keyCalls()
  const paths: Record<string, Json> = {}
  for (const call of calls) {
    const path = call.path.replaceAll(/:(\w+)/g, '{$1}')
    const operation = operationOf(call, components)
    paths[path] = {
      ...paths[path],
      [call.method.toLowerCase()]: {
        ...operation,
        description: `Requires a key with \`${call.scope}\`.${call.reveals ? ' The response contains proxy passwords.' : ''}`,
        security: [{ apiKey: [call.scope] }],
        responses: { ...(operation['responses'] as Json), 429: { $ref: '#/components/responses/TooMany' } }
      }
    }
  }
  const domains = new Set(calls.map(call => call.domain))
  return {
    openapi: '3.1.0',
    info: {
      title: 'API for customers',
      version: '1',
      description: `The calls that a customer's API key can make, ${API_KEY_CALLS_A_MINUTE} per minute. Every JSON response is { code, data, msg }: code 2000 is a success, any other code equals the HTTP status. Paths work with and without a trailing slash.`
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(DOMAIN_TITLES)
      .filter(([name]) => domains.has(name as ApiCall['domain']))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...components, Refusal: refusal },
      responses: Object.fromEntries(
        Object.entries(REFUSED).map(([name, [status, description]]) => [name, refusedWith(description, status)])
      ),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `A key from the dashboard settings. ${Object.entries(SCOPES)
            .map(([scope, does]) => `\`${scope}\`: ${does}.`)
            .join(' ')}`
        }
      }
    }
  }
}

const REFUSED: Record<string, [status: number, description: string]> = {
  Invalid: [400, 'The request is invalid; data.errors names the fields'],
  Unauthorized: [401, 'The key does not exist or was revoked'],
  Forbidden: [403, 'The key lacks the scope for this call'],
  NotFound: [404, 'It does not exist, or it is not yours'],
  TooLarge: [413, 'The body is too large'],
  WrongType: [415, 'The body is not JSON'],
  TooMany: [429, 'Too many calls; the header Retry-After gives the seconds to wait'],
  Refused: [0, 'Another refusal: 409, 422, 500 or 503, with the reason as msg']
}

type Request = { method: Method; url: string; body: unknown }
type Samples = { curl: string; python: string; node: string }

/** How to make a call with a key, which is in the variable API_KEY. Nothing but what each of them comes with is needed. */
const samplesOf = (request: Request): Samples => ({
  curl: curl(request),
  python: python(request),
  node: node(request)
})

function curl({ method, url, body }: Request): string {
  const lines = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    '-H "Authorization: Bearer $API_KEY"',
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`])
  ]
  return ['curl', ...lines.map(line => `  ${line}`), `  "${url}"`].join(' \\\n')
}

function python({ method, url, body }: Request): string {
  const json = body === undefined ? [] : ['            "Content-Type": "application/json",']
  return [
    'import json, os',
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    `    ${JSON.stringify(url)},`,
    `    method="${method}",`,
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["API_KEY"],',
    ...json.map(line => line.slice(4)),
    '    },',
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonText(body)}).encode(),`]),
    ')',
    'with urlopen(request) as reply:',
    '    print(json.load(reply)["data"])'
  ].join('\n')
}

function node({ method, url, body }: Request): string {
  const json = body === undefined ? [] : [`    'Content-Type': 'application/json'`]
  const headers = ['    Authorization: `Bearer ${process.env.API_KEY}`', ...json].join(',\n')
  return [
    `const reply = await fetch(${quoted(url)}, {`,
    `  method: '${method}',`,
    '  headers: {',
    headers,
    `  }${body === undefined ? '' : ','}`,
    ...(body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(body)})`]),
    '})',
    'const { code, data, msg } = await reply.json()',
    'if (code !== 2000) throw new Error(msg)',
    'console.log(data)'
  ].join('\n')
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** JSON as Python writes it. */
function pythonText(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, inner]) => `${JSON.stringify(name)}: ${pythonText(inner)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}
