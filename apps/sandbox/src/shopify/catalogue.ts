import { toMoney } from '../kit/http.ts'

export const demoLocations = ['New York', 'London', 'Frankfurt', 'Tokyo'] as const
type DemoLocation = (typeof demoLocations)[number]

/** A block of `cartStep` addresses for `proxyTime` days; `price` is per address in US dollars. */
type DemoVariant = {
  id: string
  title: string
  price: string
  options: readonly string[]
  location: DemoLocation
  cartStep: number
  proxyTime: number
}

type DemoPlan = {
  id: string
  title: string
  descriptionHtml: string
  tags: readonly string[]
  collections: readonly string[]
  optionNames: readonly string[]
  variants: readonly DemoVariant[]
}

type PlanInput = {
  id: string
  title: string
  about: string
  points: readonly string[]
  tags: readonly string[]
  collections: readonly string[]
  locations: readonly DemoLocation[]
  blocks: readonly number[]
  days: readonly number[]
  /** For one address and 30 days, in the smallest block. */
  cents: number
}

const blockNames: Record<number, string> = {
  1: 'Single address',
  8: 'Block of 8',
  16: 'Block of 16',
  32: 'Block of 32',
  64: 'Block of 64',
  128: 'Block of 128',
  256: 'Block of 256'
}
/** Percent of the single address's price, by block. */
const blockPercent: Record<number, number> = { 1: 100, 8: 92, 16: 86, 32: 80, 64: 70, 128: 60, 256: 50 }
const farAway: Record<DemoLocation, number> = { 'New York': 0, London: 5, Frankfurt: 0, Tokyo: 30 }

/** A plan with a variant for each combination of location, block and, if there are several, term. */
function plan(input: PlanInput): DemoPlan {
  const byTerm = input.days.length > 1
  const variants = input.locations.flatMap(location =>
    input.blocks.flatMap(cartStep => input.days.map(proxyTime => ({ location, cartStep, proxyTime })))
  )
  return {
    id: input.id,
    title: input.title,
    descriptionHtml: `<p>${input.about}</p><ul>${input.points.map(point => `<li>${point}</li>`).join('')}</ul>`,
    tags: input.tags,
    collections: input.collections,
    optionNames: byTerm ? ['Location', 'Block', 'Term'] : ['Location', 'Block'],
    variants: variants.map((choice, index) => {
      const { location, cartStep, proxyTime } = choice
      const options = [location, blockNames[cartStep] ?? `Block of ${cartStep}`]
      if (byTerm) options.push(`${proxyTime} days`)
      const cents = Math.round(((input.cents + farAway[location]) * (blockPercent[cartStep] ?? 100)) / 100)
      // If a plan has both terms, a week costs a third of a month. A plan with weeks only has its own price.
      const term = byTerm && proxyTime === 7 ? Math.round(cents / 3) : cents
      return {
        id: `${input.id}${String(index + 1).padStart(2, '0')}`,
        title: options.join(' / '),
        price: toMoney(term),
        options,
        ...choice
      }
    })
  }
}

export type DemoCollection = { id: string; title: string; descriptionHtml: string; image: string }

export const demoCollections: readonly DemoCollection[] = [
  {
    id: '710000000001',
    title: 'ISP Proxies',
    descriptionHtml:
      '<p>Addresses registered to consumer internet providers, hosted on datacenter lines.</p><p>The speed of a rack with the standing of a home connection.</p>',
    image: 'isp'
  },
  {
    id: '710000000002',
    title: 'Datacenter Proxies',
    descriptionHtml:
      '<p>Whole blocks of neighbouring addresses on our own ranges.</p><p>The most requests for the money, for work where the provider behind an address does not matter.</p>',
    image: 'datacenter'
  },
  {
    id: '710000000003',
    title: 'Static Residential',
    descriptionHtml:
      '<p>Addresses on household lines that stay the same for as long as you lease them.</p><p>For accounts that should look at home in the same place every day.</p>',
    image: 'residential'
  }
]

const [isp, datacenter, residential] = demoCollections.map(collection => collection.id) as [string, string, string]

/** Ten products: nine plans, and the access rules in no collection. */
export const demoPlans: readonly DemoPlan[] = [
  plan({
    id: '720000000001',
    title: 'Metro ISP',
    about: 'Our everyday address: fast, steady and welcome almost everywhere.',
    points: ['No traffic cap', 'HTTP and SOCKS5 on the same port', 'From a single address upwards'],
    tags: ['Social', 'Streaming', 'SEO'],
    collections: [isp],
    locations: ['New York', 'London', 'Frankfurt', 'Tokyo'],
    blocks: [1, 8],
    days: [30],
    cents: 220
  }),
  plan({
    id: '720000000002',
    title: 'Drop Day ISP',
    about: 'Close to the big retailers’ data centres, for mornings when a tenth of a second decides.',
    points: ['Under 3 ms to the exchange', 'By the week or by the month', 'Fresh ranges every season'],
    tags: ['Sneakers', 'Tickets'],
    collections: [isp],
    locations: ['New York', 'London'],
    blocks: [8, 16],
    days: [7, 30],
    cents: 340
  }),
  plan({
    id: '720000000003',
    title: 'Studio ISP',
    about: 'Long, even streams from where the catalogue is best.',
    points: ['4K without a stutter', 'Kept off the lists that streaming services share'],
    tags: ['Streaming'],
    collections: [isp],
    locations: ['New York', 'London', 'Tokyo'],
    blocks: [1],
    days: [30],
    cents: 290
  }),
  plan({
    id: '720000000004',
    title: 'Harbor Datacenter',
    about: 'A tidy /29 or /28 for rank tracking, price watching and quality checks.',
    points: ['Neighbouring addresses in one block', 'Reverse names on request'],
    tags: ['SEO', 'Ads'],
    collections: [datacenter],
    locations: ['New York', 'Frankfurt'],
    blocks: [8, 16],
    days: [30],
    cents: 90
  }),
  plan({
    id: '720000000005',
    title: 'Cargo Datacenter',
    about: 'Bulk blocks up to a whole /24 for crawlers that never sleep.',
    points: ['Down to half the price of a small block', 'A whole /24 in one piece'],
    tags: ['SEO'],
    collections: [datacenter],
    locations: ['New York', 'Frankfurt'],
    blocks: [32, 64, 128, 256],
    days: [30],
    cents: 75
  }),
  plan({
    id: '720000000006',
    title: 'Arcade Datacenter',
    about: 'Low, level latency to the game servers of three continents.',
    points: ['Routed for jitter, not for price', 'SOCKS5 for clients that need it'],
    tags: ['Gaming'],
    collections: [datacenter],
    locations: ['London', 'Frankfurt', 'Tokyo'],
    blocks: [1, 8],
    days: [30],
    cents: 110
  }),
  plan({
    id: '720000000007',
    title: 'Hearth Residential',
    about: 'An address on a household line that stays the same month after month.',
    points: ['On a real household line', 'The address never rotates'],
    tags: ['Social', 'Ads'],
    collections: [residential],
    locations: ['New York', 'London', 'Frankfurt'],
    blocks: [1],
    days: [30],
    cents: 480
  }),
  plan({
    id: '720000000008',
    title: 'TestStack Residential',
    about: 'See prices and adverts the way a local shopper sees them.',
    points: ['Small blocks in one neighbourhood', 'Checked against the big marketplaces daily'],
    tags: ['Ads', 'Sneakers'],
    collections: [residential],
    locations: ['New York', 'Tokyo'],
    blocks: [1, 8],
    days: [30],
    cents: 520
  }),
  plan({
    id: '720000000009',
    title: 'Saturday Residential',
    about: 'A week on a residential line, for a launch, a match or a try.',
    points: ['Seven days, no strings', 'Renew it and it stays the same address'],
    tags: ['Tickets', 'Gaming', 'Streaming'],
    collections: [residential, isp],
    locations: ['London', 'Tokyo'],
    blocks: [1],
    days: [7],
    cents: 210
  })
]

export type DemoRule = { name: string; domains: readonly string[]; variantId: string; price: string; about: string }

const rule = (index: number, name: string, price: string, about: string, domains: string[]): DemoRule => ({
  name,
  domains,
  price,
  about,
  variantId: String(720000000010_00 + index)
})

/** The paid access rules; `price` is per address and month in US dollars. */
export const demoRules: readonly DemoRule[] = [
  rule(1, 'Nike', '0.50', 'Nike and SNKRS', ['nike.com', 'nikecdn.com', 'nike.net']),
  rule(2, 'Ticketmaster', '0.45', 'Ticketmaster and Live Nation', [
    'ticketmaster.com',
    'ticketmaster.co.uk',
    'ticketmaster.de',
    'livenation.com'
  ]),
  rule(3, 'Google', '0.30', 'Google Search and Shopping', ['google.com', 'google.co.uk', 'google.de', 'google.co.jp']),
  rule(4, 'Instagram', '0.35', 'Instagram and Facebook', [
    'instagram.com',
    'cdninstagram.com',
    'facebook.com',
    'fbcdn.net'
  ]),
  rule(5, 'Netflix', '0.25', 'Netflix', ['netflix.com', 'nflxvideo.net', 'nflximg.net', 'nflxso.net']),
  rule(6, 'Amazon', '0.20', 'Amazon marketplaces', ['amazon.com', 'amazon.co.uk', 'amazon.de', 'amazon.co.jp']),
  rule(7, 'Walmart', '0.15', 'Walmart', ['walmart.com', 'walmartimages.com']),
  rule(8, 'Steam', '0.10', 'Steam store and community', ['steampowered.com', 'steamcommunity.com', 'steamstatic.com'])
]

/** The product of the rules' variants. It is in no collection, so no shelf shows it. */
export const demoRulesProduct = { id: '720000000010', title: 'Access rules', tag: 'acl' } as const

/** One code for each level, and one to give away. Percent off the whole order. */
export const demoDiscountCodes = [
  { code: 'WELCOME10', type: 'percentage', value: '10' },
  { code: 'MEMBER3', type: 'percentage', value: '3' },
  { code: 'SILVER5', type: 'percentage', value: '5' },
  { code: 'GOLD8', type: 'percentage', value: '8' },
  { code: 'PLATINUM12', type: 'percentage', value: '12' },
  { code: 'DIAMOND15', type: 'percentage', value: '15' }
] as const
