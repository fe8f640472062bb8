/** Log lines between two sweeps. */
type Most = { ofEach: number; ofAll: number }

/** By client, for clients that have not logged in. */
export const STRANGERS: Most = { ofEach: 20, ofAll: 50 }
/** By user, for refused requests and targets that were not reached. */
export const REFUSALS: Most = { ofEach: 100, ofAll: Infinity }

/** Keeps cheap lines from rotating the access log away, because the log is the evidence of what customers did. */
export class LineLimit {
  readonly #most: Most
  #written = new Map<string, number>()
  #all = 0
  #leftOut = new Map<string, number>()

  constructor(most: Most) {
    this.#most = most
  }

  /** Whether a line of `one` may be written. @param user counts the omitted line */
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

  /** Starts the next interval. @returns omitted lines by user */
  takeLeftOut(): ReadonlyMap<string, number> {
    const leftOut = this.#leftOut
    if (this.#all > 0) this.#written = new Map()
    if (leftOut.size > 0) this.#leftOut = new Map()
    this.#all = 0
    return leftOut
  }
}
