import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ZodError } from 'zod'

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Markup that needs no escaping. */
export type Html = { readonly markup: string }

const escape = (text: string): string => text.replace(/[&<>"']/g, char => entities[char] ?? char)

/** Tagged template that escapes all values except Html and lists of Html. */
export function html(parts: TemplateStringsArray, ...values: (string | number | Html | readonly Html[])[]): Html {
  const show = (value: string | number | Html | readonly Html[]): string => {
    if (typeof value === 'string' || typeof value === 'number') return escape(String(value))
    return 'markup' in value ? value.markup : value.map(one => one.markup).join('')
  }
  return {
    markup: parts.reduce((all, part, index) => all + part + (index < values.length ? show(values[index]!) : ''), '')
  }
}

export const nothing: Html = { markup: '' }

const css = `
:root { color-scheme: light dark; --page: #f5f6f8; --card: #fff; --line: #dfe3e8; --text: #16202b; --quiet: #556270;
  --accent: #0b6b5d; --on-accent: #fff; --bad: #a32a1c; }
@media (prefers-color-scheme: dark) { :root { --page: #0f1419; --card: #171e26; --line: #2c3742; --text: #e8edf2;
  --quiet: #a3b0bd; --accent: #55cbb8; --on-accent: #06231e; --bad: #ff9d90; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
header.top { border-bottom: 1px solid var(--line); background: var(--card); }
header.top > div, main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem; }
header.top > div { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; justify-content: space-between; }
.brand { font-weight: 700; letter-spacing: -.01em; } .quiet { color: var(--quiet); } .small { font-size: .875rem; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.015em; margin: .5rem 0 1rem; } h2 { font-size: 1.0625rem; margin: 0 0 .75rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; }
.two { display: grid; gap: 1.25rem; align-items: start; } @media (min-width: 48rem) { .two { grid-template-columns: 3fr 2fr; } }
table { width: 100%; border-collapse: collapse; } td, th { padding: .5rem 0; text-align: left; vertical-align: top; font-weight: 400; }
tr + tr > * { border-top: 1px solid var(--line); } td:first-child { overflow-wrap: anywhere; } td:last-child { text-align: right; padding-left: 1rem; white-space: nowrap; }
.num, td:last-child { font-variant-numeric: tabular-nums; } .total > * { font-weight: 700; font-size: 1.125rem; }
label { display: block; font-weight: 600; margin-bottom: .25rem; } label.next { margin-top: .75rem; }
input[type=email], input[type=text] { width: 100%; font: inherit; color: inherit; background: var(--page); border: 1px solid var(--quiet);
  border-radius: .5rem; padding: .625rem .75rem; }
button, .button { display: inline-block; width: 100%; margin-top: 1rem; font: inherit; font-weight: 650; text-align: center; text-decoration: none;
  cursor: pointer; border: 0; border-radius: .5rem; padding: .75rem 1rem; background: var(--accent); color: var(--on-accent); }
button.plain { background: transparent; color: inherit; border: 1px solid var(--quiet); margin-top: .5rem; text-align: left; }
a { color: var(--accent); } a.button { color: var(--on-accent); } .bad { color: var(--bad); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.note { border-left: 3px solid var(--accent); padding: .25rem 0 .25rem .75rem; margin: 1rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: .9375em/1.5 ui-monospace, monospace; }
main > section + section { margin-top: 1.25rem; }
iframe.mail { width: 100%; height: 28rem; border: 1px solid var(--line); border-radius: .5rem; background: #fff; }
code { font: .9375em ui-monospace, monospace; overflow-wrap: anywhere; }
`

/** A whole page in the stand-ins' design. `aside` is shown to the right of the brand. */
export function page(title: string, aside: string, body: Html): string {
  const shell = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${{ markup: css }}
        </style>
      </head>
      <body>
        <header class="top">
          <div><span class="brand">Netlet sandbox</span><span class="quiet small">${aside}</span></div>
        </header>
        <main>${body}</main>
      </body>
    </html>`
  return shell.markup
}

/** '12.3' → 1230 cents. Throws if the text is not an amount with at most 2 decimals. */
export function toCents(amount: string): number {
  const match = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(amount)
  if (!match) throw new RangeError(`Not an amount of money: ${amount}`)
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
}

/** 1234 → '12.34' */
export function toMoney(cents: number): string {
  const size = Math.abs(cents)
  return `${cents < 0 ? '-' : ''}${Math.trunc(size / 100)}.${String(size % 100).padStart(2, '0')}`
}

/** Parses form posts as URLSearchParams, accepts empty JSON bodies, and answers 400 to what zod refuses. */
export function prepare(app: FastifyInstance): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body)))
  )
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) =>
      new Response(new Uint8Array(body), {
        headers: { 'content-type': request.headers['content-type'] ?? '' }
      })
        .formData()
        .catch(() => {
          throw Object.assign(new Error('The form cannot be read.'), { statusCode: 400 })
        })
  )
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)))
    } catch {
      done(Object.assign(new Error('The body is no JSON.'), { statusCode: 400 }))
    }
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof ZodError)
      return reply.code(400).send({
        error: error.issues.map(issue => [issue.path.join('.'), issue.message].filter(Boolean).join(': ')).join('; ')
      })
    const status = error.statusCode ?? 500
    if (status >= 500) console.error(error)
    return reply.code(status).send({ error: error.message })
  })
}

/** These pages run no scripts, so that mails and cart notes cannot bring in any. */
export const sendPage = (reply: FastifyReply, markup: string, status = 200) =>
  reply
    .code(status)
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; frame-src 'self'"
    )
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(markup)

/** The fields of a form post; none if the body is anything else. */
export const formOf = (body: unknown): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams()
