import { normaliseDenyList } from '@netlet/contract/agent-hashes'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DenySet } from '../../../../agent/src/proxy/deny-set.ts'
import {
  type DecidedOverlap,
  denyLists,
  duplicatesOf,
  intersectionsOf,
  type Listing,
  overlapsOf
} from './deny-lists.ts'
import { runs } from '../../../../../scripts/testing/tier.ts'

const nike: Listing = { id: 1, domains: ['nike.com'] }
const shop: Listing = { id: 2, domains: ['shop.nike.com'] }
const decided = (rules: Listing[], winner: DecidedOverlap['winner']): DecidedOverlap[] =>
  overlapsOf(rules).map(overlap => ({ ...overlap, winner }))

describe('overlaps', () => {
  it('are the domains of one rule below a domain of another, each with the nearest', () => {
    const deep: Listing = { id: 3, domains: ['eu.shop.nike.com', 'other.com', 'xnike.com'] }
    expect(overlapsOf([nike, shop, deep])).toEqual([
      { narrow: 3, broad: 1, domain: 'eu.shop.nike.com', within: 'nike.com' },
      { narrow: 3, broad: 2, domain: 'eu.shop.nike.com', within: 'shop.nike.com' },
      { narrow: 2, broad: 1, domain: 'shop.nike.com', within: 'nike.com' }
    ])
  })

  it('are none within one rule, and none of unrelated domains', () => {
    expect(overlapsOf([{ id: 1, domains: ['nike.com', 'shop.nike.com'] }])).toEqual([])
    expect(overlapsOf([nike, { id: 2, domains: ['ike.com', 'nike.com.br', 'com.nike'] }])).toEqual([])
  })

  it('can go both ways between two rules', () => {
    const outer: Listing = { id: 1, domains: ['nike.com', 'eu.shop.nike.com'] }
    expect(overlapsOf([outer, shop]).map(({ narrow, broad, domain }) => [narrow, broad, domain])).toEqual([
      [1, 2, 'eu.shop.nike.com'],
      [2, 1, 'shop.nike.com']
    ])
  })

  it('are found from domains that two rules list', () => {
    const again: Listing = { id: 3, domains: ['nike.com', 'nike.com'] }
    expect(duplicatesOf([nike, shop, again])).toEqual([{ domain: 'nike.com', rules: [1, 3] }])
    expect(duplicatesOf([again])).toEqual([])
    const more: Listing = { id: 4, domains: ['zoo.com', 'nike.com', 'adidas.com'] }
    const most: Listing = { id: 5, domains: ['adidas.com', 'zoo.com'] }
    expect(duplicatesOf([nike, more, most])).toEqual([
      { domain: 'adidas.com', rules: [4, 5] },
      { domain: 'nike.com', rules: [1, 4] },
      { domain: 'zoo.com', rules: [4, 5] }
    ])
  })

  it('of one domain are in the order of their rules', () => {
    const listings = [7, 3, 5].map(id => ({ id, domains: ['a.b.c'] }))
    const above = [6, 4].map(id => ({ id, domains: ['b.c'] }))
    const found = overlapsOf([...listings, ...above, { id: 8, domains: ['c', 'x.c'] }])
    expect(found.map(({ narrow, broad, domain, within }) => `${narrow} ${broad} ${domain} ${within}`)).toEqual([
      ...['3 4', '3 6', '5 4', '5 6', '7 4', '7 6'].flatMap((pair, at) =>
        at % 2 === 0 ? [`${pair} a.b.c b.c`] : [`${pair} a.b.c b.c`, `${pair.slice(0, 1)} 8 a.b.c c`]
      ),
      '4 8 b.c c',
      '6 8 b.c c'
    ])
  })
})

describe('deny lists', () => {
  const rules = [nike, shop]

  it('open the narrower rule to its buyers, and to those of the broader one only if that one won', () => {
    for (const winner of [null, 'narrow'] as const) {
      const overlaps = decided(rules, winner)
      expect(denyLists(rules, overlaps, [])).toEqual({ denied: ['nike.com'], allowed: [] })
      expect(denyLists(rules, overlaps, [1])).toEqual({ denied: ['shop.nike.com'], allowed: [] })
      expect(denyLists(rules, overlaps, [2])).toEqual({ denied: ['nike.com'], allowed: ['shop.nike.com'] })
      expect(denyLists(rules, overlaps, [1, 2])).toEqual({ denied: [], allowed: [] })
    }
    const overlaps = decided(rules, 'broad')
    expect(denyLists(rules, overlaps, [1])).toEqual({ denied: [], allowed: [] })
    expect(denyLists(rules, overlaps, [2])).toEqual({ denied: ['nike.com'], allowed: ['shop.nike.com'] })
  })

  it('leave open what several rules list and one was bought', () => {
    const twice = [nike, { id: 3, domains: ['nike.com'] }]
    expect(denyLists(twice, [], [3])).toEqual({ denied: [], allowed: [] })
    expect(denyLists(twice, [], [1])).toEqual({ denied: [], allowed: [] })
  })

  it('keep a domain apart from one whose name ends alike', () => {
    const alike = [nike, { id: 3, domains: ['xnike.com', 'a.xnike.com'] }]
    expect(denyLists(alike, [], [3])).toEqual({ denied: ['nike.com'], allowed: [] })
  })
})

describe('intersections', () => {
  it('are the rules with a site in common', () => {
    expect(intersectionsOf([nike, shop], decided([nike, shop], 'narrow'))).toEqual([])
    expect(intersectionsOf([nike, shop], decided([nike, shop], 'broad'))).toEqual([[1, 2]])
    expect(intersectionsOf([nike, { id: 3, domains: ['nike.com'] }], [])).toEqual([[1, 3]])
  })

  it('are none by what was decided of a domain that no rule lists any more', () => {
    expect(intersectionsOf([nike], [{ domain: 'gone.nike.com', broad: 1, winner: 'broad' }])).toEqual([])
    expect(denyLists([nike], [{ domain: 'gone.nike.com', broad: 1, winner: 'broad' }], [1])).toEqual({
      denied: [],
      allowed: []
    })
  })

  it('are ascending, by the numbers of the rules, each once', () => {
    const lists = [10, 9, 2].map(id => ({ id, domains: ['nike.com', 'zoo.com'] }))
    expect(intersectionsOf(lists, [])).toEqual([
      [2, 9],
      [2, 10],
      [9, 10]
    ])
    const sites: [number, string[]][] = [
      [4, ['w']],
      [3, ['w']],
      [10, ['z']],
      [1, ['z', 'y', 'x']],
      [9, ['y']],
      [2, ['x']]
    ]
    const rules = sites.map(([id, domains]) => ({ id, domains }))
    expect(intersectionsOf(rules, [])).toEqual([
      [1, 2],
      [1, 9],
      [1, 10],
      [3, 4]
    ])
  })

  it('join two broader rules that both won the same domain', () => {
    const rules = [nike, shop, { id: 3, domains: ['eu.shop.nike.com'] }]
    const overlaps = overlapsOf(rules).map((overlap): DecidedOverlap => ({
      ...overlap,
      winner: overlap.narrow === 3 ? 'broad' : 'narrow'
    }))
    expect(intersectionsOf(rules, overlaps)).toEqual([
      [1, 2],
      [1, 3],
      [2, 3]
    ])
  })
})

const name = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }).map(labels => labels.join('.'))
const domainsOfRules = fc.array(fc.array(name, { maxLength: 4 }), { minLength: 1, maxLength: 5 })
const world = fc.record({
  /** No domain in two rules, as after saving them. */
  rules: domainsOfRules.map(lists => {
    const seen = new Set<string>()
    return lists.map((domains, at): Listing => ({
      id: at + 1,
      domains: domains.filter(domain => !seen.has(domain) && seen.add(domain))
    }))
  }),
  winners: fc.infiniteStream(fc.constantFrom('narrow' as const, 'broad' as const, null)),
  bought: fc.subarray([1, 2, 3, 4, 5]),
  other: fc.subarray([1, 2, 3, 4, 5]),
  host: name
})
const matches = (line: string, host: string) => host === line || host.endsWith(`.${line}`)

/** By the rules alone: the longest line that matches decides whose the host is, and the decisions who else has it. */
function reaches(rules: Listing[], overlaps: DecidedOverlap[], bought: number[], host: string): boolean {
  const line = rules
    .flatMap(({ id, domains }) => domains.map(domain => ({ id, domain })))
    .filter(({ domain }) => matches(domain, host))
    .toSorted((a, b) => b.domain.length - a.domain.length)[0]
  if (!line) return true
  const won = overlaps.filter(({ domain, winner }) => domain === line.domain && winner === 'broad')
  return [line.id, ...won.map(({ broad }) => broad)].some(id => bought.includes(id))
}

describe('for any rules, decisions and purchases', () => {
  const overlapsIn = (rules: Listing[], winners: Iterator<DecidedOverlap['winner']>): DecidedOverlap[] =>
    overlapsOf(rules).map(overlap => ({ ...overlap, winner: winners.next().value ?? null }))

  it('the agent answers by the longest matching line of all rules, and who won it', () => {
    fc.assert(
      fc.property(world, ({ rules, winners, bought, host }) => {
        const overlaps = overlapsIn(rules, winners[Symbol.iterator]())
        const { denied, allowed } = denyLists(rules, overlaps, bought)
        const list = normaliseDenyList(denied, allowed)
        if (!list.ok) throw new Error(list.bad)
        expect(new DenySet(list.domains).deniesName(host)).toBe(!reaches(rules, overlaps, bought, host))
        // The shop and the agent hash the same lists.
        expect(list.domains).toEqual([...allowed.map(domain => `!${domain}`), ...denied])
      }),
      runs(500, 50_000)
    )
  })

  it('a bought rule always opens its domains', () => {
    fc.assert(
      fc.property(world, ({ rules, winners, bought }) => {
        const overlaps = overlapsIn(rules, winners[Symbol.iterator]())
        const { denied, allowed } = denyLists(rules, overlaps, bought)
        const set = new DenySet([...allowed.map(domain => `!${domain}`), ...denied])
        for (const { id, domains } of rules)
          if (bought.includes(id)) for (const domain of domains) expect(set.deniesName(domain)).toBe(false)
      })
    )
  })

  it('buyers of rules that do not intersect never reach one listed site both', () => {
    fc.assert(
      fc.property(world, ({ rules, winners, bought, other, host }) => {
        const overlaps = overlapsIn(rules, winners[Symbol.iterator]())
        const meet = intersectionsOf(rules, overlaps).some(
          ([a, b]) => (bought.includes(a) && other.includes(b)) || (bought.includes(b) && other.includes(a))
        )
        const apart = !meet && !bought.some(id => other.includes(id))
        const isListed = rules.some(({ domains }) => domains.some(domain => matches(domain, host)))
        fc.pre(apart && isListed)
        const both = [bought, other].every(ids => reaches(rules, overlaps, ids, host))
        expect(both).toBe(false)
      })
    )
  })
})
