import type { Elsewhere, Shares } from '../proxy/connection-limits.ts'

type Count = { open: number; part: number }
type Of = {
  /** Counts that it reported. */
  open: Map<string, Count>
  speeds: Shares['speeds']
  /** What it was last sent: counts of the others, with its own at that time. */
  sent: Map<string, { elsewhere: number; own: number }>
  sentSpeeds: boolean
}

/** From this part of a limit on, all workers get the count, because the next connections may come to any of them. */
const NEAR = 0.5

/**
 * Limits that all workers share, and each worker's part. A worker gets only changes, and only of keys that it has itself or that are
 * near their limit. Of thousands of small plans this is hardly any.
 */
export class SharedCounts<W> {
  readonly #of = new Map<W, Of>()
  readonly #sums = new Map<string, Count>()
  #others = new Map<string, Count>()
  #otherSpeeds: Shares['speeds'] = []
  /** Keys whose sums changed since they were sent, and keys above their limit. */
  readonly #changed = new Set<string>()
  readonly #over = new Set<string>()

  join(worker: W): void {
    this.#of.set(worker, { open: new Map(), speeds: [], sent: new Map(), sentSpeeds: false })
    for (const name of this.#sums.keys()) this.#changed.add(name)
  }

  leave(worker: W): void {
    const of = this.#of.get(worker)
    this.#of.delete(worker)
    for (const [name, count] of of?.open ?? []) this.#add(name, count, undefined)
  }

  /** Takes changed counts. 0: the count is small again. */
  tell(worker: W, open: Shares['open']): void {
    const of = this.#of.get(worker)
    if (of === undefined) return
    for (const [name, count, part] of open) {
      this.#add(name, of.open.get(name), count > 0 ? { open: count, part } : undefined)
      if (count > 0) of.open.set(name, { open: count, part })
      else of.open.delete(name)
    }
  }

  tellSpeeds(worker: W, speeds: Shares['speeds']): void {
    const of = this.#of.get(worker)
    if (of !== undefined) of.speeds = speeds
  }

  /** Takes the complete counts of other generations. */
  setOthers({ open, speeds }: Shares): void {
    const before = this.#others
    this.#others = new Map(open.map(([name, count, part]) => [name, { open: count, part }]))
    for (const [name, count] of before) if (!this.#others.has(name)) this.#add(name, count, undefined)
    for (const [name, count] of this.#others) this.#add(name, before.get(name), count)
    this.#otherSpeeds = speeds
  }

  #add(name: string, before: Count | undefined, now: Count | undefined): void {
    if (before?.open === now?.open && before?.part === now?.part) return
    const sum = this.#sums.get(name) ?? { open: 0, part: 0 }
    const open = sum.open + (now?.open ?? 0) - (before?.open ?? 0)
    const part = sum.part + (now?.part ?? 0) - (before?.part ?? 0)
    this.#changed.add(name)
    if (open > 0) this.#sums.set(name, { open, part })
    else this.#sums.delete(name)
    if (open > 0 && part > 1) this.#over.add(name)
    else this.#over.delete(name)
  }

  /** Counts of all workers together, without other generations. */
  get own(): Shares {
    const open = new Map<string, [string, number, number]>()
    for (const of of this.#of.values())
      for (const [name, count] of of.open) {
        const [, sum, part] = open.get(name) ?? [name, 0, 0]
        open.set(name, [name, sum + count.open, part + count.part])
      }
    return { open: [...open.values()], speeds: joinSpeeds([...this.#of.values()].map(({ speeds }) => speeds)) }
  }

  /** What to send to each worker. @param again repeats keys above their limit, because some connections may still have to end */
  *changes(again: boolean): Generator<[W, Elsewhere[]]> {
    const names = again ? new Set([...this.#changed, ...this.#over]) : new Set(this.#changed)
    this.#changed.clear()
    if (names.size === 0) return
    for (const [worker, of] of this.#of) {
      const reported: Elsewhere[] = []
      for (const name of names) {
        const sum = this.#sums.get(name)
        const own = of.open.get(name)?.open ?? 0
        const elsewhere = (sum?.open ?? 0) - own
        const sent = of.sent.get(name)
        if (sum === undefined || elsewhere <= 0 || (own === 0 && sum.part < NEAR)) {
          if (sent === undefined) continue
          of.sent.delete(name)
          reported.push([name, 0, own])
        } else if (again || sent?.elsewhere !== elsewhere || sent.own !== own) {
          of.sent.set(name, { elsewhere, own })
          reported.push([name, elsewhere, own])
        }
      }
      if (reported.length > 0) yield [worker, reported]
    }
  }

  /** Others' use of the speeds that each worker uses. A worker without any gets one empty list, then nothing. */
  *speeds(): Generator<[W, Shares['speeds']]> {
    const all = joinSpeeds([...[...this.#of.values()].map(({ speeds }) => speeds), this.#otherSpeeds])
    const byUser = new Map(all.map(speed => [speed[0], speed]))
    for (const [worker, of] of this.#of) {
      const reported: Shares['speeds'] = []
      for (const [user, used] of of.speeds) {
        const [, sum, processes] = byUser.get(user) ?? [user, used, 1]
        if (processes > 1) reported.push([user, sum - used, processes - 1])
      }
      if (reported.length === 0 && !of.sentSpeeds) continue
      of.sentSpeeds = reported.length > 0
      yield [worker, reported]
    }
  }
}

/** Sums the use of each speed. */
function joinSpeeds(parts: ReadonlyArray<Shares['speeds']>): Shares['speeds'] {
  const sums = new Map<string, [string, number, number]>()
  for (const speeds of parts)
    for (const [user, used, processes] of speeds) {
      const [, sum, among] = sums.get(user) ?? [user, 0, 0]
      sums.set(user, [user, sum + used, among + processes])
    }
  return [...sums.values()]
}

/** Sums the shares of several processes. */
export function joinShares(parts: readonly Shares[]): Shares {
  const open = new Map<string, [string, number, number]>()
  for (const part of parts)
    for (const [name, count, of] of part.open) {
      const [, sum, among] = open.get(name) ?? [name, 0, 0]
      open.set(name, [name, sum + count, among + of])
    }
  return { open: [...open.values()], speeds: joinSpeeds(parts.map(({ speeds }) => speeds)) }
}
