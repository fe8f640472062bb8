/** What a mail service is given, made from a template. */
export type Letter = { subject: string; text: string; html: string }

/** One mail: a heading, paragraphs, and at most one thing to do or to read off. */
export type Content = {
  subject: string
  heading: string
  paragraphs: string[]
  /** A code to type in, shown large. */
  code?: string
  button?: { label: string; url: string }
  /** Rows of a small table. */
  facts?: [label: string, value: string][]
  footer: string
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replace(/[&<>"']/g, char => escapes[char] ?? char)

/** A subject is one line: what follows a line break would become another header. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 200)

/** Sets a mail in plain text and in HTML that mail programs of any age show alike: a table, styles on the elements. */
export function setLetter(content: Content): Letter {
  return { subject: oneLine(content.subject), text: plain(content), html: html(content) }
}

function plain({ heading, paragraphs, code, button, facts, footer }: Content): string {
  const parts = [heading, ...paragraphs]
  if (facts) parts.push(facts.map(([label, value]) => `${label}: ${value}`).join('\n'))
  if (code) parts.push(`    ${code}`)
  if (button) parts.push(`${button.label}: ${button.url}`)
  return `${[...parts, `--\n${footer}`].join('\n\n')}\n`
}

const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

function html({ subject, heading, paragraphs, code, button, facts, footer }: Content): string {
  const body = [`<h1 style="margin:0 0 16px;font-size:20px;line-height:28px;color:#101828">${escape(heading)}</h1>`]
  for (const paragraph of paragraphs) {
    const lines = escape(paragraph).replaceAll('\n', '<br>')
    body.push(`<p style="margin:0 0 16px;font-size:15px;line-height:24px;color:#344054">${lines}</p>`)
  }
  if (facts) body.push(factTable(facts))
  if (code) {
    body.push(
      `<p style="margin:8px 0 24px;padding:16px;border-radius:8px;background:#f2f4f7;text-align:center;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:30px;line-height:36px;letter-spacing:8px;color:#101828">${escape(code)}</p>`
    )
  }
  if (button) {
    body.push(
      `<p style="margin:8px 0 24px"><a href="${escape(button.url)}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#175cd3;color:#ffffff;font-size:15px;font-weight:600;text-decoration:none">${escape(button.label)}</a></p>`
    )
  }
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(oneLine(subject))}</title></head>`,
    `<body style="margin:0;background:#f9fafb;${font}"><table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:32px 16px">`,
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border:1px solid #eaecf0;border-radius:12px"><tr><td style="padding:32px">',
    ...body,
    `</td></tr></table><p style="margin:16px 0 0;max-width:560px;font-size:13px;line-height:20px;color:#475467">${escape(footer)}</p>`,
    '</td></tr></table></body></html>'
  ].join('\n')
}

function factTable(facts: [string, string][]): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><td style="padding:6px 16px 6px 0;color:#475467">${escape(label)}</td><td style="padding:6px 0;color:#101828">${escape(value)}</td></tr>`
  )
  return `<table cellpadding="0" cellspacing="0" style="margin:0 0 24px;font-size:14px;line-height:20px">${rows.join('')}</table>`
}
