import type { DomainNames } from '../proxy/domain-names.ts'
import { NumberSet } from '../proxy/number-set.ts'

/**
 * The entries of a deny set in the managing process. All lists share their texts, so a set takes at most two bytes per
 * domain. Unordered; `toSorted` gives the order of `normaliseDenyList`.
 */
export class DomainList {
  readonly #names: DomainNames
  readonly #numbers = new NumberSet()

  constructor(entries: Iterable<string>, names: DomainNames) {
    this.#names = names
    for (const entry of entries) names.hold(entry, this.#numbers)
    this.#numbers.shrink()
    // A reader may keep the list after its removal, so its numbers stay valid until it is unreachable.
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
