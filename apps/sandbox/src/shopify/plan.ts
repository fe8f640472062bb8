import { toMoney } from '../kit/money.ts'

export const demoLocations = ['New York', 'London', 'Frankfurt', 'Tokyo'] as const
export type DemoLocation = (typeof demoLocations)[number]

/** A block of `cartStep` addresses for `proxyTime` days; `price` is per address in US dollars. */
export type DemoVariant = {
  id: string
  title: string
  price: string
  options: readonly string[]
  location: DemoLocation
  cartStep: number
  proxyTime: number
}

export type DemoPlan = {
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
export function plan(input: PlanInput): DemoPlan {
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
