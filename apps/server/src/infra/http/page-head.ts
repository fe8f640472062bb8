/** The head of a page, for clients that run no scripts. */
export type PageHead = {
  status: 200 | 404
  title: string
  description: string
  /** The preferred address of a page that has several. */
  canonical?: string
  image?: string
  type?: 'website' | 'product'
  /** schema.org */
  data?: object
  /** False asks search engines to leave the page out. */
  indexed?: false
}

/** Replaces the title and the description of the built page. */
export function withHead(html: string, head: PageHead): string {
  const { title, description, canonical, image, type = 'website', data, indexed } = head
  const tags = [
    `<title>${escaped(title)}</title>`,
    `<meta name="description" content="${escaped(description)}">`,
    indexed === false && '<meta name="robots" content="noindex">',
    canonical && `<link rel="canonical" href="${escaped(canonical)}">`,
    ...(canonical
      ? [
          property('site_name', 'Netlet'),
          property('type', type),
          property('title', title),
          property('description', description),
          property('url', canonical),
          image && property('image', image),
          '<meta name="twitter:card" content="summary_large_image">'
        ]
      : []),
    // A closing tag in a text would end the element.
    data && `<script type="application/ld+json">${JSON.stringify(data).replaceAll('<', String.raw`\u003c`)}</script>`
  ].filter(Boolean)
  return html
    .replace(/<meta\s+name="description"[^>]*>\s*/, '')
    .replace(/<title>[^<]*<\/title>/, () => tags.join('\n    '))
}

const property = (name: string, content: string) => `<meta property="og:${name}" content="${escaped(content)}">`

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
