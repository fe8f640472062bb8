import { refuse, type LevelDiscount } from '@netlet/contract'
import { and, eq, gt, sql } from '../../infra/db/drizzle.ts'
import { createHash } from 'node:crypto'
import { DAY } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { levelDiscount } from '../rewards/index.ts'
import { checkoutKeys, orders } from './tables.ts'

type Reply = (typeof checkoutKeys.$inferSelect)['reply']
type Replied = Reply & { amount: string; discount: LevelDiscount | null }

/** A customer's idempotency key, with the hash of its request. */
export type CheckoutKey = { userId: number; key: string; bodyHash: Buffer }

/** How long a key returns its stored reply, in milliseconds. */
export const CHECKOUT_KEYS_KEPT = DAY

/** @param body the parts of the request, in a fixed order */
export const checkoutKey = (userId: number, key: string, body: unknown[]): CheckoutKey => ({
  userId,
  key,
  bodyHash: createHash('sha256').update(JSON.stringify(body)).digest()
})

/**
 * The stored reply for this key; null if there is none or it has expired. It refuses if the order of that reply can no
 * longer be paid, because its link leads nowhere.
 */
export async function replyTo(
  db: Executor,
  { userId, key, bodyHash }: CheckoutKey,
  now: Date
): Promise<Result<Replied | null>> {
  const [known] = await db
    .select({
      bodyHash: checkoutKeys.bodyHash,
      reply: checkoutKeys.reply,
      amount: orders.amount,
      discountCode: orders.discountCode,
      isOpen: sql<boolean>`${orders.deletedAt} is null
        and (${orders.paidAt} is not null or ${orders.state} = 'placed' and ${orders.reservedUntil} > ${now})`
    })
    .from(checkoutKeys)
    .leftJoin(orders, sql`${orders.id} = (${checkoutKeys.reply} ->> 'id')::bigint`)
    .where(
      and(
        eq(checkoutKeys.userId, userId),
        eq(checkoutKeys.key, key),
        gt(checkoutKeys.createdAt, new Date(now.getTime() - CHECKOUT_KEYS_KEPT))
      )
    )
  if (!known) return ok(null)
  if (!known.bodyHash.equals(bodyHash)) return refuse('idempotency_key_reused')
  if (!known.isOpen || known.amount === null)
    return refuse('idempotency_key_over', { params: { order: known.reply.order_id } })
  return ok({ ...known.reply, amount: known.amount, discount: await levelDiscount(db, known.discountCode) })
}

/** Stores a reply for repeats of its request. It replaces an expired one. */
export async function keepReply({ tx, now }: Unit, key: CheckoutKey, reply: Reply): Promise<void> {
  const changes = { bodyHash: key.bodyHash, reply, createdAt: now }
  await tx
    .insert(checkoutKeys)
    .values({ ...key, ...changes })
    .onConflictDoUpdate({ target: [checkoutKeys.userId, checkoutKeys.key], set: changes })
}
