import { type Language, type MailKind, OPTIONAL_MAILS, type OptionalMail } from '@netlet/contract'
import { Body } from '@react-email/body'
import { Button } from '@react-email/button'
import { Column } from '@react-email/column'
import { Container } from '@react-email/container'
import { Head } from '@react-email/head'
import { Heading } from '@react-email/heading'
import { Html } from '@react-email/html'
import { Link } from '@react-email/link'
import { Row } from '@react-email/row'
import { Section } from '@react-email/section'
import { Text } from '@react-email/text'
import { compile, type DomNode, type FormatCallback } from 'html-to-text'
import type { MailBrand } from '../settings/index.ts'
import { createElement as h, Fragment, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'

/** The kind if customers can switch it off. */
export const optionalKind = (kind: MailKind): OptionalMail | undefined => OPTIONAL_MAILS.find(one => one === kind)

/** The page that asks before it switches mails off: mail scanners open every link. `publicUrl` '' is this shop. */
export const unsubscribePage = (publicUrl: string, token: string): string => `${publicUrl}/unsubscribe?token=${token}`

/** The address of the one-click unsubscription for the token's kind. */
export const oneClickAddress = (publicUrl: string, token: string): string =>
  `${publicUrl}/api/mail/unsubscribe/?token=${token}`

/** Headers for the mail program's own buttons: a page, and one click without a page (RFC 2369, RFC 8058). */
export const unsubscribeHeaders = (oneClick: string): Record<string, string> => ({
  'List-Unsubscribe': `<${oneClick}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click'
})

/** The input of the mail service. */
export type RenderedMail = { subject: string; text: string; html: string }

/** One mail: a heading, paragraphs, and at most one action or code. */
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
  /** Where the recipient can switch such mails off. */
  unsubscribeUrl?: string | undefined
}

/** One line, because text after a line break would become another header. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 200)

/** Without it, old mail programs lay out tables by other rules. */
const DOCTYPE =
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">'

type Look = { language: Language; shopUrl: string; brand: MailBrand }

/** Renders a mail as HTML for old and new mail programs, and its text part from the same elements. */
export function renderLayout(content: Content, look: Look): RenderedMail {
  const subject = oneLine(content.subject)
  const html = DOCTYPE + renderToStaticMarkup(mail(subject, content, look))
  return { subject, html, text: `${toText(html)}\n` }
}

const UNSUBSCRIBE: Record<Language, string> = {
  en: 'Turn off emails like this one',
  'zh-CN': '不再接收此类邮件'
}

const styles = {
  body: {
    margin: 0,
    padding: '32px 16px',
    background: '#f9fafb',
    fontFamily: "-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
  },
  container: { maxWidth: '560px' },
  brand: { margin: '0 0 12px', fontSize: '16px', lineHeight: '28px', fontWeight: 600, color: '#101828' },
  logo: { display: 'inline-block', verticalAlign: 'middle', marginRight: '8px' },
  card: { background: '#ffffff', border: '1px solid #eaecf0', borderRadius: '12px' },
  // On the cell, because old mail programs ignore it on a table.
  cardCell: { padding: '32px' },
  heading: { margin: '0 0 16px', fontSize: '20px', lineHeight: '28px', color: '#101828' },
  paragraph: { margin: '0 0 16px', fontSize: '15px', lineHeight: '24px', color: '#344054' },
  facts: { margin: '0 0 24px', fontSize: '14px', lineHeight: '20px' },
  label: { padding: '6px 16px 6px 0', color: '#475467', verticalAlign: 'top' },
  value: { padding: '6px 0', color: '#101828', verticalAlign: 'top' },
  code: {
    margin: '8px 0 24px',
    padding: '16px',
    borderRadius: '8px',
    background: '#f2f4f7',
    textAlign: 'center',
    fontFamily: 'ui-monospace,Menlo,Consolas,monospace',
    fontSize: '30px',
    lineHeight: '36px',
    letterSpacing: '8px',
    color: '#101828'
  },
  button: {
    padding: '12px 20px',
    borderRadius: '8px',
    background: '#0b6860',
    color: '#ffffff',
    fontSize: '15px',
    fontWeight: 600
  },
  footer: { margin: '16px 0 0', fontSize: '13px', lineHeight: '20px', color: '#475467' },
  link: { color: '#475467', textDecoration: 'underline' }
} as const

function mail(
  subject: string,
  { heading, paragraphs, code, button, facts, footer, unsubscribeUrl }: Content,
  { language: lang, shopUrl, brand: { name, logo, accent } }: Look
): ReactElement {
  return h(
    Html,
    { lang },
    h(Head, null, h('title', null, subject)),
    h(
      Body,
      { style: styles.body },
      h(
        Container,
        { style: styles.container },
        h(
          Text,
          { className: 'brand', style: styles.brand },
          logo && h('img', { src: shopUrl + logo, alt: '', height: 28, style: styles.logo }),
          name
        ),
        h(
          Section,
          { style: styles.card },
          h(
            Row,
            null,
            h(
              Column,
              { style: styles.cardCell },
              h(Heading, { as: 'h1', style: styles.heading }, heading),
              ...paragraphs.map(text => h(Text, { style: styles.paragraph }, ...withLineBreaks(text))),
              facts && factTable(facts),
              code && h(Text, { className: 'code', style: styles.code }, code),
              button &&
                h(
                  Button,
                  {
                    className: 'button',
                    href: button.url,
                    style: { ...styles.button, ...(accent && { background: accent }) }
                  },
                  button.label
                )
            )
          )
        ),
        h(Text, { className: 'footer', style: styles.footer }, ...withLineBreaks(footer)),
        unsubscribeUrl &&
          h(
            Text,
            { style: styles.footer },
            h(Link, { className: 'unsubscribe', href: unsubscribeUrl, style: styles.link }, UNSUBSCRIBE[lang])
          )
      )
    )
  )
}

const withLineBreaks = (text: string) => text.split('\n').map((line, at) => h(Fragment, null, at > 0 && h('br'), line))

const factTable = (facts: [string, string][]): ReactElement =>
  h(
    'table',
    { className: 'facts', cellPadding: 0, cellSpacing: 0, style: styles.facts },
    h(
      'tbody',
      null,
      ...facts.map(([label, value]) =>
        h(
          'tr',
          null,
          h('td', { style: styles.label }, label),
          h('td', { style: styles.value }, ...withLineBreaks(value))
        )
      )
    )
  )

/** The plain text of an element, its parts joined by `between`. */
const textOf = (node: DomNode, between = ''): string =>
  node.type === 'text'
    ? (node.data ?? '')
    : node.name === 'br'
      ? '\n'
      : (node.children ?? []).map(child => textOf(child)).join(between)

const block =
  (toLiteral: (element: DomNode) => string): FormatCallback =>
  (element, _walk, builder) => {
    builder.openBlock({ leadingLineBreaks: 2 })
    builder.addLiteral(toLiteral(element))
    builder.closeBlock({ trailingLineBreaks: 2 })
  }

const rowsOf = (table: DomNode): DomNode[] => table.children?.[0]?.children ?? []

const toText = compile({
  wordwrap: false,
  selectors: [
    { selector: 'title', format: 'skip' },
    // The text ends with the name.
    { selector: 'p.brand', format: 'skip' },
    { selector: 'table', format: 'block' },
    { selector: 'h1', options: { uppercase: false } },
    { selector: 'table.facts', format: 'facts' },
    { selector: 'p.code', format: 'code' },
    { selector: 'a.button', format: 'button' },
    { selector: 'a.unsubscribe', format: 'button' },
    { selector: 'p.footer', format: 'footer' }
  ],
  formatters: {
    facts: block(table =>
      rowsOf(table)
        .map(row => textOf(row, ': ').replaceAll('\n', '\n    '))
        .join('\n')
    ),
    code: block(element => `    ${textOf(element)}`),
    button: block(element => `${textOf(element)}: ${element.attribs?.['href']}`),
    footer: block(element => `--\n${textOf(element)}`)
  }
})
