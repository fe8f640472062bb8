/**
 * Remembers what was added last: at least `max / 2` of it, and `max` at most. Two sets that take turns need no order kept with
 * each look.
 */
export class RecentSet {
  readonly #half: number
  #young = new Set<string>()
  #old = new Set<string>()

  constructor(max: number) {
    this.#half = max / 2
  }

  add(value: string): void {
    if (this.#young.has(value)) return
    if (this.#young.size >= this.#half) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(value)
  }

  has(value: string): boolean {
    return this.#young.has(value) || this.#old.has(value)
  }

  delete(value: string): void {
    this.#young.delete(value)
    this.#old.delete(value)
  }
}
