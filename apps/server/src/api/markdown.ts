import { refusals } from '@netlet/contract'
import { describeCalls, DOMAIN_TITLES, whoMay, type ApiCall } from './calls.ts'
import { fieldsOf, IDEMPOTENCY_KEY, typeOf, type Field } from './fields.ts'
import type { Components, JsonSchema } from './schemas.ts'

const INTRODUCTION = `# The API

Made from the contract (\`packages/contract/src\`) by \`npm run docs\`; a test fails when it is stale.
Administrators of a running shop find the same with examples at \`/api/docs\`, and as OpenAPI 3.1 at
\`/api/docs/openapi.json\`; customers find what their keys may call at \`/api-reference\`.

- Every JSON reply is \`{ "code", "data", "msg" }\`. A success is HTTP 200 with \`code\` 2000. A refusal carries its HTTP
  status as \`code\`, a message that a person can act on as \`msg\`, and details as \`data\`: \`data.errors\` maps each field
  that is not valid to its message.
- Paths work with and without the trailing slash. \`:id\` is a positive whole number, \`:key\` a name.
- Lists take \`limit\` (1 to 10000, default 10) and \`offset\` (default 0) and reply
  \`{ data: […], total, limit, offset }\`.
- A row that can be edited has a \`version\`. An edit that sends it along is refused with 409 (\`stale\`) where a field of
  its form has changed since: \`data.current\` is the row as it is now, \`data.changed\` names the fields in which the form
  differs from it. An edit without a version overwrites what is there, except for a
  change of coins or points, which is refused without one.
- What moves money or coins is done once for one \`version\` (a refund, a change of coins), \`ends_at\` (days that are added),
  \`batch\` (gift cards), or \`Idempotency-Key\` header (1 to 200 printable ASCII characters): send a new key for each thing
  that you ask for, and the same key when you repeat a request whose answer was lost. The repeat gets the answer of the first;
  with another body it is refused (422). Where a key is required, a call without one is refused (400).
- _money_ is an exact amount as text with 2 decimals (\`"20.00"\`; \`20\` and \`20.5\` are taken too), _time_ is ISO 8601 in
  UTC, _id_ is a positive whole number, also as text.
- People call with the session cookie that a login sets. Programs call with
  \`Authorization: Bearer nlk_…\`: a key that a customer makes under Settings, which may do what its scopes name and
  nothing else. A browser's call from another site is refused (403).
- Fields in bold are required.`

/** The whole API as docs/API.md. */
export function apiMarkdown(): string {
  const { calls, components } = describeCalls()
  const used = new Set<string>()
  const sections = Object.entries(DOMAIN_TITLES).map(([domain, title]) => {
    const own = calls.filter(call => call.domain === domain)
    return [`## ${title}`, ...own.map(call => callSection(call, components, used))].join('\n\n')
  })
  return [INTRODUCTION, ...sections, shapesSection(components, used), refusalsSection()].join('\n\n') + '\n'
}

function callSection(call: ApiCall, components: Components, used: Set<string>): string {
  const lines = [`### ${call.method} ${call.path}`, '', `${call.summary.replace(/\?$/, '')}. ${whoMay(call)}.`, '']
  const parts = [
    ['Query', call.query],
    ['Body', call.body]
  ] as const
  if (call.idempotencyKey)
    lines.push(`- Header: ${fieldText({ ...IDEMPOTENCY_KEY, required: call.idempotencyKey === 'required' })}`)
  for (const [name, schema] of parts) {
    if (!schema) continue
    const fields = fieldsOf(schema, components, true)
    if (fields.length > 0) lines.push(`- ${name}: ${fields.map(fieldText).join('; ')}`)
    else if (Object.keys(schema).length === 0) lines.push(`- ${name}: any JSON`)
  }
  lines.push(`- Reply: ${replyText(call, components, used)}`)
  return lines.join('\n')
}

const fieldText = ({ name, type, required }: Field): string =>
  `${required ? `**\`${name}\`**` : `\`${name}\``} (${type})`

function replyText(call: ApiCall, components: Components, used: Set<string>): string {
  if (call.raw === 'redirect') return 'a redirect (302)'
  if (call.raw) return `\`${call.raw}\``
  remember(call.reply, components, used)
  const list = listedIn(call.reply)
  if (list) return `a list of ${shapeText(list, components)}`
  return shapeText(call.reply, components)
}

/** The entries of a paged list. */
function listedIn({ properties }: JsonSchema): JsonSchema | undefined {
  return properties?.['total'] && properties['data']?.type === 'array' ? properties['data'].items : undefined
}

function shapeText(schema: JsonSchema, components: Components): string {
  if (schema.$ref) return linked(typeOf(schema))
  if (schema.type === 'array' && schema.items) return `an array of ${shapeText(schema.items, components)}`
  if (schema.type === 'null') return '`null`'
  const fields = fieldsOf(schema, components, false)
  if (fields.length === 0) return typeOf(schema)
  return fields.map(({ name, type }) => `\`${name}\` (${type})`).join(', ')
}

const linked = (name: string): string => `[${name}](#${name.toLowerCase()})`

/** Notes the named shapes of a reply, and those inside them. */
function remember(schema: JsonSchema, components: Components, used: Set<string>): void {
  for (const [, name] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    const shape = name === undefined ? undefined : components[name]
    if (!name || !shape || used.has(name)) continue
    used.add(name)
    remember(shape, components, used)
  }
}

function shapesSection(components: Components, used: Set<string>): string {
  const shapes = [...used]
    .filter(name => components[name]?.properties)
    .toSorted()
    .map(name => {
      const fields = fieldsOf(components[name], components, false)
      return [`### ${name}`, '', ...fields.map(field => `- \`${field.name}\`: ${field.type}`)].join('\n')
    })
  return ['## Shapes of replies', ...shapes].join('\n\n')
}

/** How wide a text is in a fixed-width font: Chinese characters take two columns. */
const columns = (text: string) => text.replaceAll(/[\u2e80-\uffef]/g, '  ').length

/** Of the forms of a word the one that goes with most numbers. */
const ofMany = (message: string) => message.replaceAll(/\{\w+\|[^|}]*\|([^|}]*)\}/g, '$1')

function refusalsSection(): string {
  const messages = Object.values(refusals).map(([status, message]) => [status, ofMany(message)] as const)
  const width = Math.max(...messages.map(([, message]) => columns(message)))
  const rows = messages
    .toSorted(([a], [b]) => a - b)
    .map(([status, message]) => `| ${status}  | ${message}${' '.repeat(width - columns(message))} |`)
  return [
    '## Refusals',
    '',
    'The messages in general; some calls say it more exactly.',
    '',
    `| code | ${'msg'.padEnd(width)} |`,
    `| ---- | ${'-'.repeat(width)} |`,
    ...new Set(rows)
  ].join('\n')
}
