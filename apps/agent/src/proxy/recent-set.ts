/** Keeps the values added last, between `max / 2` and `max` of them. Two sets in rotation avoid keeping an order per lookup. */
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
