import { toCents } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, inArray } from '../../infra/db/drizzle.ts'
import { pointRecords } from './tables.ts'
import { coinMillionths, wholePoints } from './whole-points.ts'

/** A refund of a payment. `reversedAt`: when its money came back to the shop; null: it did not. */
export type Money = { takenAt: Date; reversedAt: Date | null }

/** One time that level points of an earning were taken back. */
export type Take = {
  /** Of its record. */
  id: number
  /** The earning's id. */
  earning: number
  /** How many of the earning's points. */
  taken: number
  /** How many of them decays had left. */
  lost: number
  at: Date
}

/** Points that were taken and not restored, and the refunds that may have taken them. */
type Lot = { taken: number; lost: number; owners: readonly Money[] }

type History = {
  /** The earnings of one kind, oldest first: the first one, then the restored ones. */
  records: readonly Earning[]
  takes: readonly Take[]
  moneys: readonly Money[]
  /** How many points the whole payment earns. */
  full: number
}

type Restoring = { nominal: number; at: Date }

/**
 * How many level points to give for restored points: as many as were taken for them. Replays the history. Each
 * restoration gives back what its own refund took, then what other reversed refunds took, whose place another refund
 * had taken at that time. Once all refunds are reversed, all is restored, in any order.
 */
export function pointsToRestore({ records, takes, moneys, full }: History, now: Restoring): number {
  const restorings = records
    .slice(1)
    .map(record => ({ id: record.id, restoring: { nominal: originalPoints(record), at: record.createdAt } }))
  const events = [...takes, ...restorings].toSorted((a, b) => a.id - b.id)
  const silent = unrecordedLots(records, takes, moneys)
  const lots = [...lotsBefore(records, moneys, full), ...(silent.get(records[0]?.id ?? 0) ?? [])]
  for (const event of events) {
    if ('restoring' in event) restore(lots, event.restoring, moneys)
    else
      lots.push({
        taken: event.taken,
        lost: event.lost,
        owners: moneys.filter(({ takenAt }) => isAt(takenAt, event.at))
      })
    lots.push(...(silent.get(event.id) ?? []))
  }
  return restore(lots, now, moneys)
}

/** Refunds before the payment earned anything. Their points were never granted, so no decay has touched them. */
function lotsBefore([first]: readonly Earning[], moneys: readonly Money[], full: number): Lot[] {
  if (!first || full <= first.point) return []
  const never = full - first.point
  return [{ taken: never, lost: never, owners: moneys.filter(({ takenAt }) => takenAt <= first.createdAt) }]
}

/** By earning, what refunds took when decays had left nothing. Those have no record. */
function unrecordedLots(
  records: readonly Earning[],
  takes: readonly Take[],
  moneys: readonly Money[]
): Map<number, Lot[]> {
  const unrecorded = moneys.filter(({ takenAt }) => takes.every(({ at }) => !isAt(takenAt, at)))
  return new Map(
    records.map(({ id, takenBack, createdAt }) => {
      const of = takes.filter(({ earning }) => earning === id)
      const taken = takenBack - sumOf(of, take => take.taken)
      const owners = unrecorded.filter(({ takenAt }) => takenAt >= createdAt)
      return [id, taken > 0 ? [{ taken, lost: 0, owners }] : []]
    })
  )
}

/** Takes restored points from the lots. @returns the level points to give */
function restore(lots: readonly Lot[], { nominal, at }: Restoring, moneys: readonly Money[]): number {
  const back = new Set(moneys.filter(({ reversedAt }) => reversedAt !== null && reversedAt <= at))
  const own = new Set([...back].filter(({ reversedAt }) => reversedAt !== null && isAt(reversedAt, at)))
  const rank = ({ owners }: Lot): number => {
    if (owners.some(money => own.has(money))) return 0
    if (owners.every(money => back.has(money))) return 1
    return owners.some(money => back.has(money)) ? 2 : 3
  }
  let [rest, given] = [nominal, 0]
  for (const lot of lots.toSorted((a, b) => rank(a) - rank(b))) {
    const part = Math.min(lot.taken, rest)
    if (part === 0) continue
    const points = Math.floor((lot.lost * part) / lot.taken)
    lot.taken -= part
    lot.lost -= points
    rest -= part
    given += points
  }
  return given + rest
}

const isAt = (a: Date, b: Date): boolean => a.getTime() === b.getTime()

export const sumOf = <One>(all: readonly One[], of: (one: One) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0)

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
export const originalPoints = ({ point, nominal }: Pick<Earning, 'point' | 'nominal'>): number => nominal ?? point

/** How many points of these earnings still stand, before any decay. */
export const standingPoints = (records: readonly Earning[]): number =>
  records.reduce(
    (sum, { point, nominal, takenBack, takenBackAt }) => sum + (takenBackAt ? 0 : (nominal ?? point) - takenBack),
    0
  )

/** The points of one kind's earnings if so much of the payment was kept; without `kept`, the original number. */
export function targetPoints([first]: readonly Earning[], kept?: Kept): number {
  if (!first) return 0
  if (!kept) return originalPoints(first)
  if (first.rate !== null) return (first.kind === 'coins' ? coinMillionths : wholePoints)(kept.amount, first.rate)
  // An old record without a rate: the whole payment earned it.
  const all = toCents(kept.of)
  return all === 0n ? 0 : Number((BigInt(originalPoints(first)) * toCents(kept.amount)) / all)
}
