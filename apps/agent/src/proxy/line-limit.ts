/** Lines of the access log between two sweeps: of each one, and of all of them together. */
type Most = { ofEach: number; ofAll: number }

/** By client: of those that have not logged in. */
export const STRANGERS: Most = { ofEach: 20, ofAll: 50 }
/** By user: of requests that the agent refused, or whose target was not reached. */
export const REFUSALS: Most = { ofEach: 100, ofAll: Infinity }

/** Keeps lines that cost nothing to cause from rolling the access log away, which is the evidence of what customers did. */
export class LineLimit {
  readonly #most: Most
  #written = new Map<string, number>()
  #all = 0
  #leftOut = new Map<string, number>()

  constructor(most: Most) {
    this.#most = most
  }

  /** Whether a line of `one` may be written. @param user whose name is told with what is left out */
  allows(one: string, user: string): boolean {
    const written = this.#written.get(one) ?? 0
    if (this.#all >= this.#most.ofAll || written >= this.#most.ofEach) {
      this.#leftOut.set(user, (this.#leftOut.get(user) ?? 0) + 1)
      return false
    }
    this.#all++
    this.#written.set(one, written + 1)
    return true
  }

  /** Begins anew. @returns how many lines were left out, by user */
  takeLeftOut(): ReadonlyMap<string, number> {
    const leftOut = this.#leftOut
    if (this.#all > 0) this.#written = new Map()
    if (leftOut.size > 0) this.#leftOut = new Map()
    this.#all = 0
    return leftOut
  }
}
