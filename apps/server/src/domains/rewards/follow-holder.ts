import { and, asc, eq, gt, not } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { endCode, followCode } from './platform-codes.ts'
import { holderCodesQueue, levelTagQueue } from './queues.ts'
import { coupons } from './tables.ts'

/** After a change of a user's e-mail address, by which the platform knows a code's holder and whom to tag. */
export function followAddress(unit: Unit, userId: number): void {
  unit.jobs.send(holderCodesQueue, { userId }, { key: String(userId) })
  unit.jobs.send(levelTagQueue, { userId }, { key: String(userId) })
}

/** Codes of one transaction. */
const BATCH = 100

/** Has all unused promo codes of a holder follow. One that was cut off may begin again: it asks for the same. */
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

/** Before a holder is deleted: nobody may pay with the codes that are left. */
export async function endCodesOf(unit: Unit, userId: number): Promise<void> {
  const rows = await unit.tx
    .select({ code: coupons.code })
    .from(coupons)
    .where(and(eq(coupons.holderId, userId), not(coupons.isUsed)))
  for (const { code } of rows) endCode(unit, code)
}
