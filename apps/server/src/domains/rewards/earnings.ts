import { toCents } from '@netlet/contract'
import { and, eq, inArray } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pointRecords } from './tables.ts'
import { coinMillionths, wholePoints } from './whole-points.ts'

/** A record of what a payment earned, at first or when its money came back. */
export type Earning = typeof pointRecords.$inferSelect

/** How much of a payment was kept, and all that it brought: '12.30'. */
export type Kept = { amount: string; of: string }

/** A payment's earnings, grouped by kind, oldest first, without points for invitations. */
export async function earningsOf(db: Executor, payment: string): Promise<Earning[][]> {
  const rows = await db
    .select()
    .from(pointRecords)
    .where(and(eq(pointRecords.payment, payment), inArray(pointRecords.reasonCode, ['payment', 'invited_payment'])))
    .orderBy(pointRecords.id)
  return [...Map.groupBy(rows, ({ reasonCode }) => reasonCode).values()]
}

/** How many points an earning gave, before any decay. Coins count in millionths, here and below. */
export const nominalOf = ({ point, nominal }: Pick<Earning, 'point' | 'nominal'>): number => nominal ?? point

/** How many points of these earnings still stand, before any decay. */
export const standingOf = (records: readonly Earning[]): number =>
  records.reduce(
    (sum, { point, nominal, takenBack, takenBackAt }) => sum + (takenBackAt ? 0 : (nominal ?? point) - takenBack),
    0
  )

/** The points of one kind's earnings if so much of the payment was kept; without `kept`, the original number. */
export function targetOf([first]: readonly Earning[], kept?: Kept): number {
  if (!first) return 0
  if (!kept) return nominalOf(first)
  if (first.rate !== null) return (first.kind === 'coins' ? coinMillionths : wholePoints)(kept.amount, first.rate)
  // An old record without a rate: the whole payment earned it.
  const all = toCents(kept.of)
  return all === 0n ? 0 : Number((BigInt(nominalOf(first)) * toCents(kept.amount)) / all)
}
