import type { OverlapWinner } from '@netlet/contract'
import { parentsOf } from './domains.ts'

/** A rule's domains. Each includes all its subdomains. */
export type Listing = { id: number; domains: readonly string[] }

/** A domain of the rule `narrow` below a domain of the rule `broad`: `within`, the nearest. */
export type Overlap = { narrow: number; broad: number; domain: string; within: string }

/** An overlap with its decision. Null works as if the narrow rule had won. */
export type DecidedOverlap = Overlap & { winner: OverlapWinner | null }

/** The part of an overlap that decides who reaches what. */
type Decision = Pick<DecidedOverlap, 'domain' | 'broad' | 'winner'>

/** The rules that list a domain. Only old data has more than one: it is refused now. */
type Listed = ReadonlyMap<string, readonly number[]>

function listed(rules: Iterable<Listing>): Listed {
  const byDomain = new Map<string, number[]>()
  for (const { id, domains } of rules) {
    for (const domain of domains) {
      const ids = byDomain.get(domain)
      if (ids === undefined) byDomain.set(domain, [id])
      else if (!ids.includes(id)) ids.push(id)
    }
  }
  return byDomain
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Domains that several rules list, ascending, with those rules. */
export function duplicatesOf(rules: Iterable<Listing>): { domain: string; rules: readonly number[] }[] {
  return [...listed(rules)]
    .filter(([, ids]) => ids.length > 1)
    .map(([domain, ids]) => ({ domain, rules: ids }))
    .toSorted((a, b) => byText(a.domain, b.domain))
}

/** Every pair of rules with a domain of one below a domain of the other, once for each domain, ascending. */
export function overlapsOf(rules: Iterable<Listing>): Overlap[] {
  const found = new Map<string, Overlap>()
  const byDomain = listed(rules)
  for (const [domain, owners] of byDomain) {
    for (const within of parentsOf(domain)) {
      for (const broad of byDomain.get(within) ?? []) {
        for (const narrow of owners) {
          const key = overlapKey({ narrow, broad, domain })
          if (narrow !== broad && !found.has(key)) found.set(key, { narrow, broad, domain, within })
        }
      }
    }
  }
  return [...found.values()].toSorted((a, b) => byText(a.domain, b.domain) || a.narrow - b.narrow || a.broad - b.broad)
}

/** Identifies an overlap. */
export const overlapKey = ({ narrow, broad, domain }: Pick<Overlap, 'narrow' | 'broad' | 'domain'>): string =>
  `${narrow} ${broad} ${domain}`

/**
 * Rules with a site in common, the lower id first, ascending. They all list a domain, or are the broader ones that won
 * it. Buyers of either reach it, so an address leased under both to two orders would sell it twice.
 */
export function intersectionsOf(rules: Iterable<Listing>, overlaps: Iterable<Decision>): [number, number][] {
  const byDomain = listed(rules)
  const shared = new Map<string, Set<number>>()
  // Stryker disable next-line ConditionalExpression,EqualityOperator: a set of one gives no pairs, and is only spared.
  for (const [domain, ids] of byDomain) if (ids.length > 1) shared.set(domain, new Set(ids))
  for (const { domain, broad, winner } of overlaps) {
    if (winner !== 'broad') continue
    const ids = shared.get(domain)
    if (ids === undefined) shared.set(domain, new Set([...(byDomain.get(domain) ?? []), broad]))
    else ids.add(broad)
  }
  const pairs = new Map<string, [number, number]>()
  for (const ids of shared.values()) {
    const ascending = [...ids].toSorted((one, other) => one - other)
    for (const [at, one] of ascending.entries())
      for (const other of ascending.slice(at + 1)) pairs.set(`${one} ${other}`, [one, other])
  }
  return [...pairs.values()].toSorted(([a, b], [c, d]) => a - c || b - d)
}

/** What an agent gets: of all lines that match a host, the longest decides. Both ascending. */
export type DenyLists = { denied: string[]; allowed: string[] }

/**
 * What a proxy must not reach if its order bought these rules. A listed domain is open if a bought rule opens it,
 * otherwise closed; unlisted hosts are open. Lines that repeat what a parent domain's line says are left out.
 */
export function denyLists(rules: Iterable<Listing>, overlaps: Iterable<Decision>, bought: Iterable<number>): DenyLists {
  const own = new Set(bought)
  // Plain values for speed: this runs over all domains for each selection of rules that is delivered.
  const open = new Map<string, boolean>()
  for (const { id, domains } of rules) {
    const isOwn = own.has(id)
    for (const domain of domains) if (isOwn || !open.has(domain)) open.set(domain, isOwn)
  }
  for (const { domain, broad, winner } of overlaps)
    if (winner === 'broad' && own.has(broad) && open.has(domain)) open.set(domain, true)
  const denied: string[] = []
  const allowed: string[] = []
  for (const [domain, isOpen] of open) {
    const openAbove = nearestAbove(domain, open) ?? true
    if (isOpen !== openAbove) (isOpen ? allowed : denied).push(domain)
  }
  return { denied: denied.toSorted(), allowed: allowed.toSorted() }
}

/** What is known of the nearest parent of a domain. */
function nearestAbove(domain: string, known: ReadonlyMap<string, boolean>): boolean | undefined {
  for (let dot = domain.indexOf('.'); dot !== -1; dot = domain.indexOf('.', dot + 1)) {
    const found = known.get(domain.slice(dot + 1))
    if (found !== undefined) return found
  }
  return undefined
}
