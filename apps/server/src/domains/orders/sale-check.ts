import { refuse, type Refusal } from '@netlet/contract'
import type { Shopify } from '../../integrations/shopify/index.ts'
import type { OrderLine } from './tables.ts'
import { LRUCache } from 'lru-cache'
import { type Clock, MINUTE } from '../../infra/clock.ts'

type Answer = Awaited<ReturnType<Shopify['variants']>>

/** Asks the platform whether variants are for sale. Null if this user has asked too often. */
export type SaleCheck = (
  platform: Pick<Shopify, 'variants'>,
  userId: number,
  ids: readonly string[]
) => Promise<Answer> | null

/** How long an answer of the platform is cached. */
const KEPT = MINUTE / 2

/** Calls to the platform that one user may cause in a minute of the clock. */
const A_MINUTE = 20

/** Each process caches the latest answers, including failures, and runs one call at a time for the same variants. */
export function openSaleCheck(now: Clock): SaleCheck {
  const answers = new LRUCache<string, { at: number; answer: Promise<Answer> }>({ max: 2000 })
  const asked = new LRUCache<string, number>({ max: 20_000 })
  return (platform, userId, ids) => {
    const at = now().getTime()
    const key = ids.toSorted().join(',')
    const kept = answers.get(key)
    if (kept && kept.at > at - KEPT) return kept.answer
    const who = `${userId}:${Math.floor(at / MINUTE)}`
    const before = asked.get(who) ?? 0
    if (before >= A_MINUTE) return null
    asked.set(who, before + 1)
    const answer = platform.variants(ids)
    answers.set(key, { at, answer })
    answer.catch(() => answers.delete(key))
    return answer
  }
}

/**
 * Refuses lines of which the platform's checkout would take fewer, because its own stock is smaller. Rules may share a
 * variant, so the lines of each are added.
 */
export function refusedByStock(
  lines: readonly OrderLine[],
  there: ReadonlyMap<string, { stock: string; left: number | null }>
): Refusal | null {
  const needed = new Map<string, number>()
  for (const { variant, name, quantity } of lines) {
    const { stock, left = null } = there.get(variant) ?? {}
    const all = (needed.get(variant) ?? 0) + quantity
    needed.set(variant, all)
    if (stock === 'sold_out') return refuse('sold_out_on_platform', { params: { name } })
    if (left !== null && left < all) return refuse('short_on_platform', { params: { name, left } })
  }
  return null
}
