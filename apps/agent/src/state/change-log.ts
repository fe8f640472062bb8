type Entry<T> = { seq: number; of: T }

/** Entries added before outdated ones are removed. */
const SPARE = 1000

/** Items in the order of their last change. A page is found without a scan of all items. */
export class ChangeLog<T extends { seq: number }> {
  #entries: Array<Entry<T>> = []
  /** Entries after the last cleanup. */
  #size = 0

  /** Moves an item to the end. `seq` must be the largest so far; earlier entries of the item become outdated. */
  push(seq: number, of: T): void {
    this.#entries.push({ seq, of })
    if (this.#entries.length < 2 * this.#size + SPARE) return
    this.#entries = this.#entries.filter(isCurrent)
    this.#size = this.#entries.length
  }

  /** Up to `limit` items that changed after `from` and up to `upTo`. `last` is the seq of the last one. */
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
