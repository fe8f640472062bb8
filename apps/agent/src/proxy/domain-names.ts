import { nextTurn } from '../turns.ts'
import type { NumberSet } from './number-set.ts'

/** Names that are let go of in one turn of the loop. */
const NAMES_A_TURN = 2000
/** A table is made anew as it grows, at once: with many small ones each time only a little has to be. */
const TABLES = 256
/** Numbers are kept by pages for the same reason. */
const PAGE_BITS = 12
const PAGE = 1 << PAGE_BITS

/** Names by number, and how many sets hold each. */
type Page = { names: Array<string | null>; holders: Int32Array }

/** Which table a name is in: spread by some of its letters. */
function tableOf(name: string): number {
  const { length } = name
  let spread = length
  for (const at of [0, 5, length >> 2, length >> 1, length - (length >> 2), length - 1]) {
    spread = Math.imul(spread, 31) + (name.charCodeAt(at) | 0)
  }
  return (spread ^ (spread >>> 8)) & (TABLES - 1)
}

/**
 * The domains of all deny sets, each once and with a number: users buy different combinations of the same rules, so a set
 * needs only the numbers. A number is free again when no set holds it any more.
 */
export class DomainNames {
  readonly #tables = Array.from({ length: TABLES }, () => new Map<string, number>())
  readonly #pages: Page[] = []
  /** Numbers that were given once; those below that nobody holds any more are in `#free`. */
  #given = 0
  #size = 0
  readonly #free: number[] = []
  #letting: Promise<void> = Promise.resolve()
  // A connection may judge by a set that no user has any more: its numbers must mean the same until nobody can.
  readonly #forgotten = new FinalizationRegistry<readonly NumberSet[]>(sets => {
    void this.release(sets)
  })

  get size(): number {
    return this.#size
  }

  /** The number of a name, if any set holds it. */
  numberOf(name: string): number | undefined {
    return this.#tables[tableOf(name)]?.get(name)
  }

  /** The name of a number that a set holds. */
  nameOf(number: number): string {
    return this.#pageOf(number).names[number & (PAGE - 1)] ?? ''
  }

  #pageOf(number: number): Page {
    const page = this.#pages[number >>> PAGE_BITS]
    if (page !== undefined) return page
    const made = { names: [], holders: new Int32Array(PAGE) }
    this.#pages.push(made)
    return made
  }

  /** Puts a name into a set. */
  hold(name: string, set: NumberSet): void {
    const table = this.#tables[tableOf(name)]
    const known = table?.get(name)
    const number = known ?? this.#free.pop() ?? this.#given++
    const { names, holders } = this.#pageOf(number)
    if (known === undefined) {
      table?.set(name, number)
      names[number & (PAGE - 1)] = name
      this.#size++
    }
    if (set.add(number)) holders[number & (PAGE - 1)] = (holders[number & (PAGE - 1)] ?? 0) + 1
  }

  /** Lets go of the names in these sets once nobody can reach their owner. */
  releaseWith(owner: object, sets: readonly NumberSet[]): void {
    this.#forgotten.register(owner, sets)
  }

  /** Lets go of the names in these sets, some at a time. */
  release(sets: readonly NumberSet[]): Promise<void> {
    this.#letting = this.#letting.then(() => this.#letGo(sets))
    return this.#letting
  }

  async #letGo(sets: readonly NumberSet[]): Promise<void> {
    let done = 0
    for (const set of sets) {
      for (const number of set) {
        this.#drop(number)
        if (++done % NAMES_A_TURN === 0) await nextTurn()
      }
    }
  }

  #drop(number: number): void {
    const { names, holders } = this.#pageOf(number)
    const at = number & (PAGE - 1)
    const left = (holders[at] ?? 0) - 1
    holders[at] = left
    if (left > 0) return
    const name = names[at] ?? ''
    this.#tables[tableOf(name)]?.delete(name)
    this.#size--
    names[at] = null
    this.#free.push(number)
  }
}
