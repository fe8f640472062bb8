/** Lets all waiting work run. Long work is split by it, so that no tunnel stalls. */
export const nextTurn = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))

/** Runs `work` for each item, `count` items per turn of the loop. */
export async function inTurns<T>(each: Iterable<T>, count: number, work: (one: T) => void): Promise<void> {
  let done = 0
  for (const one of each) {
    work(one)
    if (++done % count === 0) await nextTurn()
  }
}

/** How long deferrable work may take in one turn of the loop, and in one step of a turn. */
const TURN_MS = 3
const STEP_MS = 1

/** Like `inTurns` for items of very different cost: as many per turn as fit into one step's time. */
export async function inShortTurns<T>(each: Iterable<T>, work: (one: T) => void): Promise<void> {
  let until = performance.now() + STEP_MS
  for (const one of each) {
    work(one)
    if (performance.now() < until) continue
    await nextTurn()
    until = performance.now() + STEP_MS
  }
}
/** Pieces of urgent work per owner in a turn that is over. */
const URGENT = 64
/** Place of all strangers among the users. */
const STRANGERS = ''

/**
 * Whose turns work uses: a user's name, or an object for a client without a login. All such clients share one user's turns, because
 * anyone with many addresses could pose as many of them.
 */
export type Owner = string | object

/** Waiting work, one line per owner. Owners take turns. */
class Lines {
  /** Next owner first. */
  readonly #lines = new Map<Owner, Array<() => void>>()

  get size(): number {
    return this.#lines.size
  }

  has(owner: Owner): boolean {
    return this.#lines.has(owner)
  }

  add(owner: Owner, work: () => void): void {
    const line = this.#lines.get(owner)
    if (line === undefined) this.#lines.set(owner, [work])
    else line.push(work)
  }

  /** Runs the first work of the next owner. */
  readonly step = (): void => {
    const next = this.#lines.entries().next().value
    if (next === undefined) return
    const [owner, line] = next
    // The owner moves behind all others. It is removed only if its work added nothing.
    this.#lines.delete(owner)
    this.#lines.set(owner, line)
    try {
      line.shift()?.()
    } finally {
      if (line.length === 0) this.#lines.delete(owner)
    }
  }
}

/**
 * Spreads the work of many connections over turns of the loop. Each asks before a piece of work whether the time is over, and if so
 * continues in a later turn. Work of one owner waits in one line, and owners take turns: a new owner waits for one step of
 * each other owner, not for each of their connections. All strangers share the turns of one user.
 */
export class TurnBudget {
  /** Undefined: no work yet in this turn. */
  #until: number | undefined
  /** Work of users, and one entry for each waiting piece of strangers' work. */
  readonly #lines = new Lines()
  readonly #strangers = new Lines()
  /** Urgent work done in this turn after its time was over, by owner. */
  readonly #urgent = new Map<Owner, number>()
  #isPending = false
  #isStep = false
  readonly #fault: (error: unknown) => void

  /** @param fault receives errors of work, which must not stop other work */
  constructor(fault: (error: unknown) => void) {
    this.#fault = fault
  }

  /** Whether the owner's work must continue in a later turn: the time is over, or earlier work of the owner waits. */
  isOver(owner: Owner): boolean {
    if (!this.#isStep && this.#lines.size > 0 && (this.#lines.has(owner) || this.#strangers.has(owner))) return true
    const now = performance.now()
    if (this.#until === undefined) {
      this.#until = now + TURN_MS
      this.#schedule()
    }
    return now > this.#until
  }

  /** The same for work that is lost if it is not done now. Each owner may do some of it in every turn. */
  isLost(owner: Owner): boolean {
    if (!this.isOver(owner)) return false
    const done = this.#urgent.get(owner) ?? 0
    if (done >= URGENT) return true
    this.#urgent.set(owner, done + 1)
    return false
  }

  /** Continues with `work` in a later turn. `work` must handle its own errors; here they are only reported. */
  later(owner: Owner, work: () => void): void {
    if (typeof owner === 'string') this.#lines.add(owner, work)
    else {
      this.#strangers.add(owner, work)
      this.#lines.add(STRANGERS, this.#strangers.step)
    }
    this.#schedule()
  }

  /** Runs all waiting work and what it adds, because no later turn follows. */
  finish(): void {
    while (this.#lines.size > 0) this.#step(performance.now())
  }

  #schedule(): void {
    if (this.#isPending) return
    this.#isPending = true
    setImmediate(this.#turn)
  }

  readonly #turn = (): void => {
    this.#isPending = false
    if (this.#urgent.size > 0) this.#urgent.clear()
    const end = performance.now() + TURN_MS
    for (let now = end - TURN_MS; now <= end && this.#lines.size > 0; now = performance.now()) this.#step(now)
    this.#until = undefined
    if (this.#lines.size > 0) this.#schedule()
  }

  #step(now: number): void {
    this.#until = now + STEP_MS
    this.#isStep = true
    try {
      this.#lines.step()
    } catch (error) {
      this.#fault(error)
    } finally {
      this.#isStep = false
    }
  }
}
