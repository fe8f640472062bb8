import { pagePaths, type PageId } from '@netlet/contract/pages'
import type { PageHead } from '../infra/http/web.ts'
import type { Advertised } from '../domains/catalog/index.ts'

/** Does a path fit a pattern of the router (`/order/:id`, `/proxies/:id?`)? Letters count alike, as they do there. */
function matchesPath(pattern: string, path: string): boolean {
  const wanted = pattern.toLowerCase().split('/')
  const given = path.toLowerCase().split('/')
  if (given.length > wanted.length) return false
  return wanted.every((part, at) => {
    const here = given[at]
    if (here === undefined) return part.endsWith('?')
    return part.startsWith(':') ? here !== '' : part === here
  })
}

/** What a page is about is found out by these. */
export type Facts = {
  /** Without a trailing slash. */
  publicUrl: string
  /** ISO 4217 */
  currency: () => Promise<string>
  product: (id: number) => Promise<Advertised | undefined>
  /** The shop's name, and the picture of links to its pages. */
  name: string
  picture: string | null
}

const LEAD = 'HTTP and SOCKS5 proxies on fixed IPs, leased by the month with the access rules you need.'
/** Characters: search engines show no more. */
const LONGEST = 160

const WORDS: Partial<Record<PageId, { title: string; description: string }>> = {
  home: { title: 'Static proxies by the IP or block, leased monthly', description: LEAD },
  product: {
    title: 'Products',
    description: 'All plans with their locations, IP quantities, access rules and prices.'
  },
  publicRewards: {
    title: 'Rewards',
    description: 'Earn level points for payments and invited friends, and exchange coins for gift cards.'
  },
  support: {
    title: 'Support',
    description: 'Answers to frequently asked questions, the community chat and a contact form.'
  },
  status: {
    title: 'Status',
    description: 'The status of each location now and over the last 90 days, with incidents and email updates.'
  },
  apiReference: {
    title: 'API reference',
    description: 'Read orders and proxies, renew orders and manage webhooks with an API key, with examples to copy.'
  },
  login: { title: 'Login', description: LEAD },
  forgot: { title: 'Forgot password', description: LEAD },
  createAccount: { title: 'Create account', description: LEAD }
}

const POLICIES = [
  { id: '1', title: 'Privacy Policy', description: 'Which data the shop keeps, why, and for how long.' },
  {
    id: '2',
    title: 'Refund Policy',
    description: 'Digital goods: all sales are final, without refunds or replacements.'
  }
] as const
const TERMS = { id: '3', title: 'Terms of Use', description: 'The terms for leasing and using plans.' }

/** Pages that say nothing to those who do not come by a link of their own. */
const UNLISTED: PageId[] = ['unsubscribe', 'empty']

/** Addresses that lead on to a dashboard's first page. */
const ENTRANCES = ['/dashboard', '/dashboard/index']

/** The pages that the sitemap lists, besides those of products. */
export const LISTED = [
  '/',
  '/product',
  '/rewards',
  '/support',
  '/status',
  '/api-reference',
  ...[...POLICIES, TERMS].map(({ id }) => `/policy?id=${id}`)
]

/**
 * What an address is about, as search engines and programs that show links read it.
 * @param url path and query as they were asked for
 */
export async function aboutPage(url: string, facts: Facts): Promise<PageHead> {
  const { name } = facts
  const [pathname = '/', query] = url.split('?', 2)
  const searchParams = new URLSearchParams(query)
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname
  const at = (canonical: string) => facts.publicUrl + canonical
  const image = facts.picture === null ? {} : { image: at(facts.picture) }
  const found = Object.entries(pagePaths).find(([, pattern]) => matchesPath(pattern, path))
  if (!found) {
    if (ENTRANCES.includes(path)) return { status: 200, title: name, description: LEAD, indexed: false }
    return { status: 404, title: `Page not found · ${name}`, description: LEAD, indexed: false }
  }
  const [id, pattern] = found as [PageId, string]
  if (id === 'policy') {
    const policy = POLICIES.find(one => one.id === searchParams.get('id')) ?? TERMS
    const { title, description } = policy
    return { status: 200, title: `${title} · ${name}`, description, canonical: at(`/policy?id=${policy.id}`), ...image }
  }
  const asked = searchParams.get('id')
  if (id === 'product' && asked !== null) return aboutProduct(asked, facts, image)
  const words = WORDS[id]
  if (!words || UNLISTED.includes(id)) return { status: 200, title: name, description: LEAD, indexed: false }
  // As the router has it: letters count alike, and this is its one address.
  return { status: 200, ...words, title: `${words.title} · ${name}`, canonical: at(pattern), ...image }
}

async function aboutProduct(asked: string, facts: Facts, image: { image?: string }): Promise<PageHead> {
  const id = /^[1-9]\d{0,14}$/.test(asked) ? Number(asked) : undefined
  const product = id === undefined ? undefined : await facts.product(id)
  if (!product)
    return { status: 404, title: `This product is not on sale · ${facts.name}`, description: LEAD, indexed: false }
  const canonical = `${facts.publicUrl}/product?id=${product.id}`
  const description = shortened(product.description || LEAD)
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: product.name,
    description,
    url: canonical,
    ...(product.imageUrl ? { image: product.imageUrl } : {}),
    offers: {
      '@type': 'AggregateOffer',
      lowPrice: product.from,
      highPrice: product.to,
      offerCount: product.offers,
      priceCurrency: await facts.currency(),
      url: canonical
    }
  }
  return {
    status: 200,
    title: `${product.name} · ${facts.name}`,
    description,
    canonical,
    ...(product.imageUrl ? { image: product.imageUrl } : image),
    type: 'product',
    data,
    ...(product.unlisted ? { indexed: false } : {})
  }
}

/** One line, ended at a word. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).replace(/\s\S*$/, '')}…`
}
