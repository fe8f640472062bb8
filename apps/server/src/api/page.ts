import { refusals } from '@netlet/contract'
import { describeCalls, DOMAIN_TITLES, whoMay, type ApiCall } from './calls.ts'
import {
  type Components,
  type Field,
  IDEMPOTENCY_KEY,
  type JsonSchema,
  exampleOf,
  fieldsOf,
  resolve
} from './schemas.ts'

/** Quiet surfaces, one accent, tabular figures; light and dark as the system says; from 320 px on. */
const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2330, #e4e8ef); --quiet: light-dark(#566074, #a3adbf);
  --ground: light-dark(#f6f7f9, #11151c); --surface: light-dark(#fff, #191f29); --line: light-dark(#dde1e8, #2b3442);
  --accent: light-dark(#1857c9, #84adff); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.55 system-ui, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
header p, header li { max-width: 60rem; }
header, .columns { max-width: 74rem; margin: 0 auto; padding: 1.5rem 1rem 0; }
h1 { margin: 0; font-size: 1.7rem; letter-spacing: -0.02em; }
h2 { margin: 0 0 0.75rem; font-size: 1.15rem; }
h3 { margin: 1rem 0 0.3rem; font-size: 0.85rem; color: var(--quiet); }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.columns { display: grid; gap: 2rem; grid-template-columns: 15rem minmax(0, 1fr); padding-bottom: 4rem; }
nav { position: sticky; top: 1rem; align-self: start; display: grid; }
nav a { display: flex; justify-content: space-between; gap: 1rem; padding: 0.35rem 0.5rem; color: inherit; text-decoration: none; border-radius: 6px; }
nav a:hover { background: var(--surface); color: var(--accent); }
nav span, .who { color: var(--quiet); }
nav span { white-space: nowrap; }
section + section { margin-top: 2.5rem; }
details { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 0 0.9rem; margin-bottom: 0.5rem; }
details[open] { padding-bottom: 0.9rem; }
summary { display: flex; flex-wrap: wrap; gap: 0.2rem 0.7rem; align-items: baseline; padding: 0.6rem 0; cursor: pointer; }
summary::-webkit-details-marker { display: none; }
summary::after { content: '+'; margin-left: auto; color: var(--quiet); }
details[open] > summary::after { content: '−'; }
.method { font: 600 0.75rem/1.4 ui-monospace, monospace; min-width: 3.4rem; color: var(--accent); }
.delete { color: light-dark(#b3261e, #ff9d93); }
.post, .put { color: light-dark(#8a5200, #f2bd6b); }
.what { color: var(--quiet); flex: 1 1 14rem; }
.who { margin: 0; }
code, pre { font: 0.86rem/1.5 ui-monospace, monospace; }
pre { margin: 0; padding: 0.7rem 0.9rem; background: var(--ground); border-radius: 6px; overflow: auto; max-height: 24rem; overflow-wrap: normal; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-top: 1px solid var(--line); }
td.code, th.code { white-space: nowrap; overflow-wrap: normal; }
th { font-weight: 500; color: var(--quiet); border-top: 0; }
@media (max-width: 768px) { .columns { grid-template-columns: minmax(0, 1fr); gap: 1.5rem; } nav { position: static; } }
`

/** What holds for all calls. */
const CONVENTIONS = [
  'Every JSON response is <code>{ code, data, msg }</code>. A success is HTTP 200 with <code>code</code> 2000. A refusal has its HTTP status as <code>code</code>, a message for a person as <code>msg</code>, and details as <code>data</code>: <code>data.errors</code> gives a message for each invalid field.',
  'Paths work with and without the trailing slash. <code>:id</code> is a positive whole number, <code>:key</code> a name.',
  'Lists take <code>limit</code> (1 to 10000, default 10) and <code>offset</code> (default 0), and reply <code>{ data, total, limit, offset }</code>.',
  'A row that can be edited has a <code>version</code>. If an edit sends it and a field of its form has changed since, it is refused with 409 (<code>stale</code>): <code>data.current</code> is the row now, <code>data.changed</code> names the fields that differ. An edit without a version overwrites; only changes of coins and points require one.',
  'A call that moves money or coins takes effect once for one <code>version</code>, <code>ends_at</code>, <code>batch</code> or <code>Idempotency-Key</code> header (1 to 200 printable ASCII characters). Send a new key for each thing you ask for, and the same key when you repeat a request. The repeat gets the first answer; with another body it is refused with 422. If a key is required, a call without one is refused with 400.',
  '<i>money</i> is an exact amount as text with 2 decimals (<code>"20.00"</code>; <code>20</code> and <code>20.5</code> are accepted), <i>time</i> is ISO 8601 in UTC, <i>id</i> is a positive whole number, also as text.',
  'People call with the session cookie of a login. Programs call with <code>Authorization: Bearer nlk_…</code>, a key that a customer creates under Settings and that may do what its scopes name. A call from a browser on another site is refused with 403.'
]

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
<p>${calls.length} calls. <a href="/api/docs/openapi.json">OpenAPI 3.1</a></p>
<ul>${CONVENTIONS.map(line => `<li>${line}</li>`).join('\n')}</ul>
</header>
<div class="columns">
<nav aria-label="Domains">${links.join('\n')}<a href="#refusals">Refusals</a></nav>
<main>${sections.join('\n')}${refusalsSection()}</main>
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

/** Of the forms of a word the one for most numbers. */
const ofMany = (message: string) => message.replaceAll(/\{\w+\|[^|}]*\|([^|}]*)\}/g, '$1')

/** All messages of refusals in general; some calls are more exact. */
function refusalsSection(): string {
  const rows = Object.entries(refusals)
    .toSorted(([, [a]], [, [b]]) => a - b)
    .map(
      ([reason, [status, message]]) =>
        `<tr><td class="code">${status}</td><td><code>${reason}</code><br>${escapeHtml(ofMany(message))}</td></tr>`
    )
  return `<section id="refusals"><h2>Refusals</h2><table><thead><tr><th class="code">Code</th><th>Reason and message</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`
}

const headerFields = ({ idempotencyKey }: ApiCall): Field[] =>
  idempotencyKey ? [{ ...IDEMPOTENCY_KEY, required: idempotencyKey === 'required' }] : []

function fieldTable(title: string, fields: Field[]): string {
  if (fields.length === 0) return ''
  const rows = fields.map(
    ({ name, type, required }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(type)}</td><td>${required ? 'yes' : 'no'}</td></tr>`
  )
  return `<h3>${title}</h3><table><thead><tr><th>Field</th><th>Type</th><th>Required</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
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
  if (call.raw === 'redirect') return '302, redirects to a page of the shop'
  if (call.raw) return `200, ${call.raw}`
  return JSON.stringify({ code: 2000, data: exampleOf(call.reply, components), msg: 'success' }, null, 2)
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => ESCAPES[character] ?? '')
