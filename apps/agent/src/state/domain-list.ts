import type { DomainNames } from '../proxy/domain-names.ts'
import { NumberSet } from '../proxy/number-set.ts'

/**
 * The entries of a deny set as the managing process keeps them: all lists share their texts, so that a combination of rules weighs
 * two bytes for each domain at most. In no order; `toSorted` has that of `normaliseDenyList`.
 */
export class DomainList {
  readonly #names: DomainNames
  readonly #numbers = new NumberSet()

  constructor(entries: Iterable<string>, names: DomainNames) {
    this.#names = names
    for (const entry of entries) names.hold(entry, this.#numbers)
    this.#numbers.shrink()
    // A reader may have it longer than any user: its numbers must mean the same until nobody can.
    names.releaseWith(this, [this.#numbers])
  }

  get length(): number {
    return this.#numbers.size
  }

  *[Symbol.iterator](): Generator<string> {
    for (const number of this.#numbers) yield this.#names.nameOf(number)
  }

  toSorted(): string[] {
    return [...this].toSorted()
  }

  toJSON(): string[] {
    return [...this]
  }
}
