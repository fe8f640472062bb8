import { eq } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { platformChecks } from './tables.ts'

/** What is looked at from time to time, and what the last look found. */
export type Checks = {
  /** The platform as a whole. */
  shop: { name: string; currency: string; scopes: string[] } | { error: string }
  webhooks:
    | { wanted: string[]; present: string[]; foreign: string[]; blocked: boolean; restored: number }
    | { error: string }
  /** Other installations that administrators were told of. */
  foreign_told: { origins: string[] }
  /** A webhook came whose signature was wrong. */
  bad_signature: { topic: string }
  /** `until`: the change of an order up to which all is known; `more`: the next look goes on exactly there. */
  reconciliation: ({ found: number; unreadable?: number } | { error: string }) & { until?: string; more?: boolean }
  /** All products were read again. */
  products: { read: number; changed: number } | { error: string }
  /** All prices were read again. */
  prices: { read: number; differ: number } | { error: string }
}

/** Writes down what a look found, in place of what the one before found. */
export async function recordCheck<K extends keyof Checks>(unit: Unit, name: K, result: Checks[K]): Promise<void> {
  const row = { at: unit.now, result }
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
