import { nominalOf, type Earning } from './earnings.ts'

/** Money of a payment that was given back: when, and when it came back to the shop; null: it stands as given back. */
export type Money = { takenAt: Date; reversedAt: Date | null }

/** A time that level points of an earning were taken back. */
export type Take = {
  /** Of its record. */
  id: number
  /** The earning's id. */
  earning: number
  /** How many of the points that the earning gave. */
  taken: number
  /** How many of those decays had left. */
  lost: number
  at: Date
}

/** What was taken and not restored since, and which moneys' going may have taken it. */
type Lot = { taken: number; lost: number; owners: readonly Money[] }

type History = {
  /** The earnings of one kind, the oldest first: the first, and the restorings since. */
  records: readonly Earning[]
  takes: readonly Take[]
  moneys: readonly Money[]
  /** How many points all of the payment earns. */
  full: number
}

type Restoring = { nominal: number; at: Date }

/**
 * How many level points to give where so many of those that earnings gave are restored: what was taken for them. The history is
 * followed from its beginning. Each restoring gives back what the going of its own money took; then what is left of other money
 * that came back: still other money was away at that time, and has taken the place of it. Where all of the money is back, all
 * that was taken is given back, in whatever order it came.
 */
export function givenBackFor({ records, takes, moneys, full }: History, now: Restoring): number {
  const restorings = records
    .slice(1)
    .map(record => ({ id: record.id, restoring: { nominal: nominalOf(record), at: record.createdAt } }))
  const events = [...takes, ...restorings].toSorted((a, b) => a.id - b.id)
  const silent = silentLots(records, takes, moneys)
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

/** What was known to be given back before the payment had earned anything: it was never earned, and no decay has touched it. */
function lotsBefore([first]: readonly Earning[], moneys: readonly Money[], full: number): Lot[] {
  if (!first || full <= first.point) return []
  const never = full - first.point
  return [{ taken: never, lost: never, owners: moneys.filter(({ takenAt }) => takenAt <= first.createdAt) }]
}

/** By earning, what was taken of it when decays had left none: that has no record. */
function silentLots(records: readonly Earning[], takes: readonly Take[], moneys: readonly Money[]): Map<number, Lot[]> {
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

/** Takes what is restored out of the lots. @returns the level points that it gives */
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
