type Entry<T> = { seq: number; of: T }

/** Entries that are kept before those that are out of date are looked for. */
const SPARE = 1000

/** Things in the order of their last change, of which a piece is found without looking at all of them. */
export class ChangeLog<T extends { seq: number }> {
  #entries: Array<Entry<T>> = []
  /** After the last clean-up. */
  #size = 0

  /** Puts a thing at the end: its `seq` is the largest, and its earlier entries do not count any more. */
  push(seq: number, of: T): void {
    this.#entries.push({ seq, of })
    if (this.#entries.length < 2 * this.#size + SPARE) return
    this.#entries = this.#entries.filter(isCurrent)
    this.#size = this.#entries.length
  }

  /** At most `limit` things that changed after `from`, and not after `upTo`; `last` is the last one's place. */
  after(from: number, { limit, upTo }: { limit: number; upTo: number }): { found: T[]; last: number; more: boolean } {
    const found: T[] = []
    let last = from
    for (let at = this.#firstAfter(from); ; at++) {
      const entry = this.#entries[at]
      if (entry === undefined || entry.seq > upTo) return { found, last, more: false }
      if (!isCurrent(entry)) continue
      if (found.length === limit) return { found, last, more: true }
      found.push(entry.of)
      last = entry.seq
    }
  }

  #firstAfter(from: number): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle]?.seq ?? 0) > from) high = middle
      else low = middle + 1
    }
    return low
  }
}

const isCurrent = <T extends { seq: number }>({ seq, of }: Entry<T>): boolean => of.seq === seq
