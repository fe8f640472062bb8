import { compile } from 'html-to-text'

const line = { leadingLineBreaks: 1, trailingLineBreaks: 1 }

const toText = compile({
  wordwrap: false,
  selectors: [
    { selector: 'a', format: 'inline' },
    ...['p', 'div', 'blockquote', 'table', 'tr'].map(selector => ({ selector, format: 'block', options: line })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(selector => ({ selector, format: 'block', options: line })),
    ...['ul', 'ol'].map(selector => ({
      selector,
      format: 'unorderedList',
      options: { ...line, itemPrefix: '• ' }
    })),
    ...['img', 'script', 'style'].map(selector => ({ selector, format: 'skip' }))
  ]
})

/**
 * A product description as plain text with its paragraphs. The platform's own `description` field joins everything into
 * one line, which is hard to read for lists. Callers escape the result.
 */
export const htmlToText = (html: string): string => toText(html).replace(/\n{3,}/g, '\n\n')
