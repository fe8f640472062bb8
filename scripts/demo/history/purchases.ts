import type { Choice } from './acts.ts'
import { people } from './people.ts'

const LOCATIONS = ['New York', 'London', 'Frankfurt', 'Tokyo'] as const

const monthly: readonly ((pick: Pick) => Choice)[] = [
  pick => ({
    plan: 'Metro ISP',
    options: [pick(LOCATIONS), 'Single address'],
    quantity: pick([1, 1, 2, 3, 5]),
    rules: [pick(['Instagram', 'Google', 'Amazon'])]
  }),
  pick => ({
    plan: 'Metro ISP',
    options: [pick(LOCATIONS), 'Block of 8'],
    quantity: 8,
    rules: pick([['Instagram', 'Google'], ['Amazon'], ['Steam', 'Walmart']])
  }),
  pick => ({
    plan: 'Drop Day ISP',
    options: [pick(['New York', 'London']), 'Block of 8', '30 days'],
    quantity: 8,
    rules: pick([['Nike'], ['Nike', 'Ticketmaster']])
  }),
  pick => ({
    plan: 'Studio ISP',
    options: [pick(['New York', 'London', 'Tokyo']), 'Single address'],
    quantity: pick([1, 2, 3]),
    rules: ['Netflix']
  }),
  pick => ({
    plan: 'Harbor Datacenter',
    options: [pick(['New York', 'Frankfurt']), pick(['Block of 8', 'Block of 8', 'Block of 16'])],
    quantity: 16,
    rules: ['Google']
  }),
  pick => ({
    plan: 'Arcade Datacenter',
    options: [pick(['London', 'Frankfurt', 'Tokyo']), 'Single address'],
    quantity: pick([1, 2]),
    rules: ['Steam']
  }),
  pick => ({
    plan: 'Hearth Residential',
    options: [pick(['New York', 'London', 'Frankfurt']), 'Single address'],
    quantity: pick([1, 1, 2]),
    rules: pick([['Instagram'], ['Google', 'Amazon']])
  }),
  pick => ({
    plan: 'TestStack Residential',
    options: [pick(['New York', 'Tokyo']), 'Block of 8'],
    quantity: 8,
    rules: pick([['Amazon', 'Walmart'], ['Nike']])
  })
]

const weekly: readonly ((pick: Pick) => Choice)[] = [
  pick => ({
    plan: 'Saturday Residential',
    options: [pick(['London', 'Tokyo']), 'Single address'],
    quantity: pick([1, 2, 4]),
    rules: pick([['Ticketmaster'], ['Netflix'], ['Steam']])
  }),
  pick => ({
    plan: 'Drop Day ISP',
    options: [pick(['New York', 'London']), 'Block of 8', '7 days'],
    quantity: 8,
    rules: ['Nike']
  })
]

type Pick = <T>(from: readonly T[]) => T

/** Random choices from this generator. */
export function chooser(random: () => number) {
  const pick: Pick = from => {
    const found = from[Math.floor(random() * from.length)]
    if (found === undefined) throw new Error('There is nothing to choose from')
    return found
  }
  return {
    pick,
    monthly: (): Choice => pick(monthly)(pick),
    weekly: (): Choice => pick(weekly)(pick),
    /** Someone whose account was then some hours old. @param ago days before the end */
    person: (ago: number): string => pick(people.filter(({ joined }) => joined > ago + 0.1)).username,
    /** A typical hour for purchases: few at night, most in the afternoon. */
    hour: (): number =>
      pick([1, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 14, 15, 15, 16, 17, 18, 19, 20, 21, 22, 23]) + random() * 0.99
  }
}
