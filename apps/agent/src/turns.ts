/** Lets everything else that waits have its turn: long work is done in pieces, so that no tunnel stands still for it. */
export const nextTurn = (): Promise<void> => new Promise(resolve => void setImmediate(resolve))

/** Does work for each, so many in one turn of the loop. */
export async function inTurns<T>(each: Iterable<T>, count: number, work: (one: T) => void): Promise<void> {
  let done = 0
  for (const one of each) {
    work(one)
    if (++done % count === 0) await nextTurn()
  }
}

/** How long work that can wait may take in one turn of the loop, and one step of it. */
const TURN_MS = 3
const STEP_MS = 1

/** The same for work that takes much longer for some of them: as much in one turn as fits into the time of a step. */
export async function inShortTurns<T>(each: Iterable<T>, work: (one: T) => void): Promise<void> {
  let until = performance.now() + STEP_MS
  for (const one of each) {
    work(one)
    if (performance.now() < until) continue
    await nextTurn()
    until = performance.now() + STEP_MS
  }
}
/** How much of what cannot wait each owner may have done in a turn that is over. */
const URGENT = 64
/** Where all strangers stand among the users. */
const STRANGERS = ''

/**
 * For whom work waits: the name of a user, or the object that stands for a client of which no user is known. Such clients share what one
 * user has, since whoever has many addresses is as many of them.
 */
export type Owner = string | object

/** Work that waits, in one line for each owner; the owners have their steps by turns. */
class Lines {
  /** The one whose step is next comes first. */
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

  /** Does what is first in the next owner's line. */
  readonly step = (): void => {
    const next = this.#lines.entries().next().value
    if (next === undefined) return
    const [owner, line] = next
    // Behind all others; forgotten only where nothing came while it was at work.
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
 * Divides what many connections want done at once over turns of the loop. Before each piece of work they ask whether their time is
 * over, and go on in a later turn where it is. Those of one owner wait in one line, and the lines have their steps by turns:
 * whoever comes waits for one step of each other owner, however many connections that has. Strangers have one step by turns among
 * the users, and by turns among themselves.
 */
export class TurnBudget {
  /** Undefined: nobody has begun in this turn. */
  #until: number | undefined
  /** What waits for users; for each piece of work that waits for a stranger there is a step of the strangers here. */
  readonly #lines = new Lines()
  readonly #strangers = new Lines()
  /** What was done in this turn although it is over, by owner. */
  readonly #urgent = new Map<Owner, number>()
  #isPending = false
  #isStep = false
  readonly #fault: (error: unknown) => void

  /** @param fault hears of work that threw although it must not: it ends nobody else's */
  constructor(fault: (error: unknown) => void) {
    this.#fault = fault
  }

  /** Whether the owner's work has to go on in a later turn: the time is over, or others of the owner wait before it. */
  isOver(owner: Owner): boolean {
    if (!this.#isStep && this.#lines.size > 0 && (this.#lines.has(owner) || this.#strangers.has(owner))) return true
    const now = performance.now()
    if (this.#until === undefined) {
      this.#until = now + TURN_MS
      this.#ask()
    }
    return now > this.#until
  }

  /** The same for work that is lost where it is not done now: each owner has some of it in every turn. */
  isLost(owner: Owner): boolean {
    if (!this.isOver(owner)) return false
    const done = this.#urgent.get(owner) ?? 0
    if (done >= URGENT) return true
    this.#urgent.set(owner, done + 1)
    return false
  }

  /** `work` goes on in a later turn. Whoever it is for has to be ended by itself where it throws: here it is only told. */
  later(owner: Owner, work: () => void): void {
    if (typeof owner === 'string') this.#lines.add(owner, work)
    else {
      this.#strangers.add(owner, work)
      this.#lines.add(STRANGERS, this.#strangers.step)
    }
    this.#ask()
  }

  /** Does all that waits, and what it leads to: there are no later turns. */
  finish(): void {
    while (this.#lines.size > 0) this.#step(performance.now())
  }

  #ask(): void {
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
    if (this.#lines.size > 0) this.#ask()
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
