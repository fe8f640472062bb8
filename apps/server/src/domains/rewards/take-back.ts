import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { changeBalance, lockBalance } from '../accounts/index.ts'
import { grantPoints } from './grant.ts'
import { pendingCoins } from './pending-coins.ts'
import { pointRecords } from './tables.ts'

type PointRow = typeof pointRecords.$inferSelect

/**
 * Takes back what a payment earned, once: level points as far as decay has left them, coins that nobody could spend yet,
 * and of spent coins what the balance holds. The rest is owed, and kept from what is earned next. The caller has locked
 * the earners (`lockEarners`).
 * @param payment the platform's id of the order that was refunded
 */
export async function takeBackForPayment(unit: Unit, payment: string): Promise<void> {
  // Once also where nothing is left to take, and all of it is owed: then no record of it is written.
  const taken = await unit.tx
    .update(pointRecords)
    .set({ takenBackAt: unit.now })
    .where(
      and(
        eq(pointRecords.payment, payment),
        inArray(pointRecords.reasonCode, ['payment', 'invited_payment', 'invited']),
        isNull(pointRecords.takenBackAt)
      )
    )
    .returning()
  for (const record of taken.toSorted((a, b) => a.id - b.id))
    await (record.kind === 'level' ? takeLevelPoints(unit, record) : takeCoins(unit, record))
}

const reasonOf = ({ reasonCode, reasonParams: params }: PointRow) => ({
  reason: reasonCode === 'payment' ? ('refund' as const) : ('refund_invited' as const),
  ...(params ? { params } : {})
})

async function takeLevelPoints(unit: Unit, record: PointRow): Promise<void> {
  const balance = await lockBalance(unit.tx, record.userId)
  const point = -Math.min(record.point, balance?.levelPoints ?? 0)
  await grantPoints(unit, {
    ...reasonOf(record),
    userId: record.userId,
    kind: 'level',
    point,
    cause: `refund:${record.id}`
  })
}

async function takeCoins(unit: Unit, record: PointRow): Promise<void> {
  const { tx, now } = unit
  const { userId, cause, maturesAt } = record
  const balance = await lockBalance(tx, userId)
  if (!balance) return
  const [kept] = await tx
    .select()
    .from(pointRecords)
    .where(eq(pointRecords.cause, `withheld:${cause}`))
  const stillPending = maturesAt !== null && maturesAt > now
  const fromPending = stillPending ? Math.min(record.point + (kept?.point ?? 0), balance.coins) : 0
  const spendable = Math.max(0, balance.coins - (await pendingCoins(tx, userId, now)))
  const fromSpendable = Math.min(record.point - fromPending, spendable)
  const owed = record.point - fromPending - fromSpendable
  const taken = { ...reasonOf(record), userId, kind: 'coins' as const }
  await grantPoints(unit, { ...taken, point: -fromPending, cause: `refund:${record.id}:pending`, maturesAt })
  await grantPoints(unit, { ...taken, point: -fromSpendable, cause: `refund:${record.id}` })
  if (owed > 0) await changeBalance(unit, userId, { coinsOwed: owed })
}
