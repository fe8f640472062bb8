import { and, asc, eq, gt, not } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { endCode, followCode } from './platform-codes.ts'
import { holderCodesQueue, levelTagQueue } from './queues.ts'
import { coupons } from './tables.ts'

/** Call it after a user's e-mail changed. The platform finds a code's holder and the customer to tag by it. */
export function followAddress(unit: Unit, userId: number): void {
  unit.jobs.send(holderCodesQueue, { userId }, { key: String(userId) })
  unit.jobs.send(levelTagQueue, { userId }, { key: String(userId) })
}

/** Codes in one transaction. */
const BATCH = 100

/** Updates the discounts of a holder's unused promo codes. Idempotent, so an interrupted run may start over. */
export async function followCodesOf(ctx: AppContext, { userId }: { userId: number }): Promise<void> {
  const next = (after: number) =>
    command(ctx, SYSTEM, async unit => {
      const rows = await unit.tx
        .select({ id: coupons.id })
        .from(coupons)
        .where(and(eq(coupons.holderId, userId), not(coupons.isUsed), gt(coupons.id, after)))
        .orderBy(asc(coupons.id))
        .limit(BATCH)
      for (const { id } of rows) await followCode(unit, { kind: 'coupon', id })
      return rows.at(-1)?.id
    })
  for (let after: number | undefined = 0; after !== undefined;) after = await next(after)
}

/** Call it before a holder is deleted, so that the remaining codes stop working. */
export async function endCodesOf(unit: Unit, userId: number): Promise<void> {
  const rows = await unit.tx
    .select({ code: coupons.code })
    .from(coupons)
    .where(and(eq(coupons.holderId, userId), not(coupons.isUsed)))
  for (const { code } of rows) endCode(unit, code)
}
