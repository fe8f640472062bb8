import { toCents } from '@netlet/contract'
import { and, eq, inArray } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { pointRecords } from './tables.ts'
import { coinMillionths, wholePoints } from './whole-points.ts'

/** A record of what a payment earned, at first or again after its money had come back. */
export type Earning = typeof pointRecords.$inferSelect

/** What of a payment's money is the shop's, of all that it brought: '12.30'. */
export type Kept = { amount: string; of: string }

/** The earnings of a payment, those of one kind together, the oldest first. Points for an invitation are not among them. */
export async function earningsOf(db: Executor, payment: string): Promise<Earning[][]> {
  const rows = await db
    .select()
    .from(pointRecords)
    .where(and(eq(pointRecords.payment, payment), inArray(pointRecords.reasonCode, ['payment', 'invited_payment'])))
    .orderBy(pointRecords.id)
  return [...Map.groupBy(rows, ({ reasonCode }) => reasonCode).values()]
}

/** How many points an earning gave, decays not counted; of coins, millionths, as in the functions below. */
export const nominalOf = ({ point, nominal }: Pick<Earning, 'point' | 'nominal'>): number => nominal ?? point

/** How many of the points that earnings gave were not taken back, decays not counted. */
export const standingOf = (records: readonly Earning[]): number =>
  records.reduce(
    (sum, { point, nominal, takenBack, takenBackAt }) => sum + (takenBackAt ? 0 : (nominal ?? point) - takenBack),
    0
  )

/** How many points earnings of one kind come to where so much of the payment was kept; without `kept`, as at first. */
export function targetOf([first]: readonly Earning[], kept?: Kept): number {
  if (!first) return 0
  if (!kept) return nominalOf(first)
  if (first.rate !== null) return (first.kind === 'coins' ? coinMillionths : wholePoints)(kept.amount, first.rate)
  // Of before the rates were written down: it was earned by all of the payment.
  const all = toCents(kept.of)
  return all === 0n ? 0 : Number((BigInt(nominalOf(first)) * toCents(kept.amount)) / all)
}
