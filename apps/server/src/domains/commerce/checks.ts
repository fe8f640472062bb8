import type { WebhookRefusal } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { platformChecks } from './tables.ts'

/** What is known of refused webhooks of one kind. */
export type Refused = {
  /** Since the last webhook that was taken. */
  count: number
  since: string
  topic: string
  /** Signed by the platform. Without a signature that fits, the request only says that it comes from our shop. */
  certain: boolean
  /** When a webhook was taken though such a request had come: the request was a stranger's. */
  disproved: string | null
}

/** What is looked at from time to time, and what the last look found. */
export type Checks = {
  /** The platform as a whole. */
  shop: ({ name: string; currency: string; scopes: string[] } | { error: string }) & {
    /** The version of the API that it answered in; null: it did not say. */
    version?: string | null
  }
  /** What the platform calls the shop of this address. */
  domain: { shop: string; domain: string }
  webhooks:
    | { wanted: string[]; present: string[]; foreign: string[]; blocked: boolean; restored: number }
    | { error: string }
  /** Other installations that administrators were told of. */
  foreign_told: { origins: string[] }
  /** The last webhook that was taken: by whose secret (its SHA-256) it was signed, and in which version of the API it came. */
  signed: { topic: string; secret: string; version: string | null }
  /** What was refused that passes for no webhook of our shop. */
  strangers: { count: number; domain: string }
  /** `until`: the change of an order up to which all is known; `more`: the next look goes on exactly there. */
  reconciliation: ({ found: number; unreadable?: number } | { error: string }) & { until?: string; more?: boolean }
  /** All products were read again. */
  products: { read: number; changed: number } | { error: string }
  /** All prices were read again. */
  prices: { read: number; differ: number } | { error: string }
} & Record<`refused_${WebhookRefusal}`, Refused>

/** Writes down what a look found, in place of what the one before found. */
export async function recordCheck<K extends keyof Checks>(
  unit: Unit,
  name: K,
  result: Checks[K],
  at: Date = unit.now
): Promise<void> {
  const row = { at, result }
  await unit.tx
    .insert(platformChecks)
    .values({ name, ...row })
    .onConflictDoUpdate({ target: platformChecks.name, set: row })
  unit.publish('platform_event')
}

/** The same as a write of its own. */
export const noteCheck = <K extends keyof Checks>(ctx: AppContext, name: K, result: Checks[K]): Promise<void> =>
  command(ctx, SYSTEM, unit => recordCheck(unit, name, result))

/** What the last look found, and when; undefined where nobody has looked yet. */
export async function readCheck<K extends keyof Checks>(
  db: Executor,
  name: K
): Promise<{ at: Date; result: Checks[K] } | undefined> {
  const [row] = await db.select().from(platformChecks).where(eq(platformChecks.name, name))
  return row && { at: row.at, result: row.result as Checks[K] }
}
