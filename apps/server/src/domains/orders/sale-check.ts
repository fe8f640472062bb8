import { LRUCache } from 'lru-cache'
import { MINUTE, type Clock } from '../../infra/clock.ts'
import type { Shopify } from '../../integrations/shopify/index.ts'

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
