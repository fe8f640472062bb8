import { describeCalls, DOMAIN_TITLES, whoMay, type ApiCall } from './calls.ts'
import { exampleOf } from './examples.ts'
import { fieldsOf, IDEMPOTENCY_KEY, type Field } from './fields.ts'
import { resolve, type Components, type JsonSchema } from './schemas.ts'
import { PAGE_STYLE } from './style.ts'

/** The documentation as a page: plain HTML and one style sheet, since scripts of pages are refused. */
export function docsPage(): string {
  const { calls, components } = describeCalls()
  const domains = Object.entries(DOMAIN_TITLES).map(([domain, title]) => ({
    domain,
    title,
    calls: calls.filter(call => call.domain === domain)
  }))
  const links = domains.map(
    ({ domain, title, calls }) => `<a href="#${domain}">${title} <span>${calls.length}</span></a>`
  )
  const sections = domains.map(
    ({ domain, title, calls }) =>
      `<section id="${domain}"><h2>${title}</h2>${calls.map(call => callHtml(call, components)).join('\n')}</section>`
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API of this shop</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>API</h1>
<p>${calls.length} calls. Every JSON reply is <code>{ code, data, msg }</code>: code 2000 is a success, any other is the
HTTP status. Paths work with and without the trailing slash. <a href="/api/docs/openapi.json">OpenAPI 3.1</a></p>
</header>
<div class="columns">
<nav aria-label="Domains">${links.join('\n')}</nav>
<main>${sections.join('\n')}</main>
</div>
</body>
</html>
`
}

function callHtml(call: ApiCall, components: Components): string {
  const example = requestExample(call, components)
  return `<details id="${call.id}"><summary><span class="method ${call.method.toLowerCase()}">${call.method}</span>
<code>${escapeHtml(call.path)}</code><span class="what">${escapeHtml(call.summary)}</span></summary>
<p class="who">${escapeHtml(whoMay(call).replaceAll('`', ''))}</p>
${fieldTable('Header', headerFields(call))}
${fieldTable('Path', fieldsOf(call.params, components, true))}
${fieldTable('Query', fieldsOf(call.query, components, true))}
${fieldTable('Body', fieldsOf(call.body, components, true))}
<h3>Request</h3><pre tabindex="0">${escapeHtml(example)}</pre>
<h3>Reply</h3><pre tabindex="0">${escapeHtml(replyExample(call, components))}</pre>
</details>`
}

const headerFields = ({ idempotencyKey }: ApiCall): Field[] =>
  idempotencyKey ? [{ ...IDEMPOTENCY_KEY, required: idempotencyKey === 'required' }] : []

function fieldTable(title: string, fields: Field[]): string {
  if (fields.length === 0) return ''
  const rows = fields.map(
    ({ name, type, required }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(type)}</td><td>${required ? 'yes' : 'no'}</td></tr>`
  )
  return `<h3>${title}</h3><table><thead><tr><th>Field</th><th>Type</th><th>Needed</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

/** The call as one would type it: only what has to be in the query. */
function requestExample(call: ApiCall, components: Components): string {
  const first = `${call.method} ${call.path.replace(/:\w+/g, '1')}${queryExample(call.query, components)}`
  if (!call.body || call.bodyOptional) return first
  const key = call.idempotencyKey ? '\nIdempotency-Key: 7d1f0c52b8e94a3f' : ''
  return `${first}${key}\nContent-Type: application/json\n\n${JSON.stringify(exampleOf(call.body, components), null, 2)}`
}

function queryExample(schema: JsonSchema | undefined, components: Components): string {
  if (!schema) return ''
  const { properties = {}, required = [] } = resolve(schema, components)
  const query = new URLSearchParams()
  for (const [name, part] of Object.entries(properties))
    if (required.includes(name) || name === 'limit') query.set(name, String(exampleOf(part, components, name)))
  return query.size > 0 ? `?${query.toString()}` : ''
}

function replyExample(call: ApiCall, components: Components): string {
  if (call.raw === 'redirect') return '302, on to a page of the shop'
  if (call.raw) return `200, ${call.raw}`
  return JSON.stringify({ code: 2000, data: exampleOf(call.reply, components), msg: 'success' }, null, 2)
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => ESCAPES[character] ?? '')
