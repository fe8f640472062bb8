import type { OverlapWinner } from '@netlet/contract'
import { parentsOf } from './domains.ts'

/** A rule's domains, each of which stands for all its subdomains too. */
export type Listing = { id: number; domains: readonly string[] }

/** A domain of the rule `narrow` that lies below a domain of the rule `broad`: `within`, the nearest. */
export type Overlap = { narrow: number; broad: number; domain: string; within: string }

/** An overlap with what was decided of it. Null is as if the narrow rule had won. */
export type DecidedOverlap = Overlap & { winner: OverlapWinner | null }

/** What an overlap has to do with who reaches what. */
type Decision = Pick<DecidedOverlap, 'domain' | 'broad' | 'winner'>

/** The rules that list a domain. More than one only in data of before that was refused. */
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

/** Domains that several rules list, ascending, with those rules. */
export function duplicatesOf(rules: Iterable<Listing>): { domain: string; rules: readonly number[] }[] {
  return [...listed(rules)]
    .filter(([, ids]) => ids.length > 1)
    .map(([domain, ids]) => ({ domain, rules: ids }))
    .toSorted((a, b) => (a.domain < b.domain ? -1 : 1))
}

/** Every pair of rules of which one has a domain below one of the other, once for each such domain, ascending. */
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
  return [...found.values()].toSorted((a, b) =>
    a.domain === b.domain ? a.narrow - b.narrow || a.broad - b.broad : a.domain < b.domain ? -1 : 1
  )
}

/** What tells overlaps apart. */
export const overlapKey = ({ narrow, broad, domain }: Pick<Overlap, 'narrow' | 'broad' | 'domain'>): string =>
  `${narrow} ${broad} ${domain}`

/**
 * For each listed domain the rules whose buyers reach the hosts of which it is the longest listed domain: those that list
 * it, and the broader ones that won it.
 */
function openersOf(rules: Iterable<Listing>, overlaps: Iterable<Decision>): Map<string, Set<number>> {
  const openers = new Map([...listed(rules)].map(([domain, ids]) => [domain, new Set(ids)]))
  for (const { domain, broad, winner } of overlaps) if (winner === 'broad') openers.get(domain)?.add(broad)
  return openers
}

/**
 * Rules with a site in common, the lower id first, ascending: buyers of either reach it, so an address leased under both
 * to two orders would sell it twice.
 */
export function intersectionsOf(rules: Iterable<Listing>, overlaps: Iterable<Decision>): [number, number][] {
  const pairs = new Map<string, [number, number]>()
  for (const ids of openersOf(rules, overlaps).values()) {
    if (ids.size < 2) continue
    const ascending = [...ids].toSorted((a, b) => a - b)
    for (const [at, one] of ascending.entries())
      for (const other of ascending.slice(at + 1)) pairs.set(`${one} ${other}`, [one, other])
  }
  return [...pairs.values()].toSorted(([a, b], [c, d]) => a - c || b - d)
}

/** What an agent is told: of all lines that match a host, the longest decides. Both ascending. */
export type DenyLists = { denied: string[]; allowed: string[] }

/**
 * What a proxy must not reach whose order bought these rules: each listed domain is open where a bought rule opens it,
 * else closed; unlisted hosts are open. Lines that say what a line above them says already are left out.
 */
export function denyLists(rules: Iterable<Listing>, overlaps: Iterable<Decision>, bought: Iterable<number>): DenyLists {
  const own = new Set(bought)
  const open = new Map<string, boolean>()
  for (const [domain, ids] of openersOf(rules, overlaps))
    open.set(
      domain,
      [...ids].some(id => own.has(id))
    )
  const denied: string[] = []
  const allowed: string[] = []
  for (const [domain, isOpen] of open) {
    const above = parentsOf(domain).find(parent => open.has(parent))
    const openAbove = above === undefined || open.get(above) === true
    if (isOpen !== openAbove) (isOpen ? allowed : denied).push(domain)
  }
  return { denied: denied.toSorted(), allowed: allowed.toSorted() }
}
